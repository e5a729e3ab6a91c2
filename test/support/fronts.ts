/** The fronts that tests run on: our own, and uWebSockets.js where a binary of it loads. */

import type { Test } from 'tap';
import type { UwsBinary } from '../../packages/http1-uws/src/listener.ts';
import { loadUws } from '../../packages/http1-uws/src/load-uws.ts';
import type { Front } from '../../src/http/choose-front.ts';

export const OWN_FRONT: Front = { kind: 'node', reason: 'chosen by a test' };

type TestOn<On> = (name: string, run: (t: Test, on: On) => Promise<void> | void) => void;

interface FrontTests<On> {
  readonly test: TestOn<On>;
  /** Passes over a binary that does not know callers' ports. */
  readonly testWithPorts: TestOn<On>;
}

/** Registers tests on each front. Without a binary that half is skipped, with the reason. */
export async function onEachFront(t: Test): Promise<FrontTests<Front>> {
  const binary = await binaryOrSkip(t);
  const fronts: Front[] = [OWN_FRONT];
  if (binary !== null) fronts.push({ kind: 'uws', version: binary.version, binary });
  const register =
    (some: readonly Front[]): TestOn<Front> =>
    (name, run) => {
      for (const front of some) void t.test(`${front.kind}: ${name}`, (t) => run(t, front));
    };
  const hasPorts = (front: Front): boolean => front.kind === 'node' || front.binary.hasPorts;
  return { test: register(fronts), testWithPorts: register(fronts.filter(hasPorts)) };
}

/** Registers tests on uWebSockets.js alone. */
export async function onUws(t: Test): Promise<FrontTests<UwsBinary>> {
  const binary = await binaryOrSkip(t);
  const test: TestOn<UwsBinary> = (name, run) => {
    if (binary !== null) void t.test(name, (t) => run(t, binary));
  };
  return { test, testWithPorts: binary?.hasPorts === true ? test : () => undefined };
}

async function binaryOrSkip(t: Test): Promise<UwsBinary | null> {
  const loaded = await loadUws();
  if (loaded.ok) return loaded.binary;
  void t.test('on uWebSockets.js', { skip: loaded.reason }, () => undefined);
  return null;
}
