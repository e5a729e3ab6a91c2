/**
 * Loads the binary of uWebSockets.js for this Node.js and this system, and tries it out. Says why
 * when there is none.
 */

import { createRequire } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import { HEAD_BYTES_MAX } from '../../http1/src/connection.ts';
import type { UwsBinary } from './listener.ts';
import { selfTest } from './self-test.ts';
import type { Uws } from './uws.ts';

export type LoadedUws =
  | { readonly ok: true; readonly binary: UwsBinary }
  /** `reason`: a sentence without its full stop. */
  | { readonly ok: false; readonly reason: string };

const AFTER_FIRST_SENTENCE = /\.?(?:\n.*)?$/s;

/** A binary is loaded once in a process, and tried out once. */
let loading: Promise<LoadedUws> | null = null;

export function loadUws(): Promise<LoadedUws> {
  loading ??= load();
  return loading;
}

async function load(): Promise<LoadedUws> {
  if (!isMainThread) return { ok: false, reason: 'uWebSockets.js runs in the main thread only' };
  const { platform, arch, versions } = process;
  const [major] = versions.node.split('.');
  const name = `@uwsjs/${platform}-${arch}-${major}`;
  const require = createRequire(import.meta.url);
  let version: string;
  try {
    ({ version } = require(`${name}/package.json`) as { readonly version: string });
  } catch {
    return { ok: false, reason: `${name} is not installed` };
  }
  // uWebSockets.js reads it when it is loaded.
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(HEAD_BYTES_MAX);
  let uws: Uws;
  try {
    uws = require(name) as Uws;
    // Otherwise it writes its name into every answer.
    uws._cfg('silent');
  } catch (error) {
    // A library is too old for it, mostly.
    const message = error instanceof Error ? error.message : String(error);
    const why = message.replace(AFTER_FIRST_SENTENCE, '');
    return { ok: false, reason: `${name} ${version} does not load: ${why}` };
  }
  const { fault, hasPorts } = await selfTest(uws);
  if (fault !== null) {
    return { ok: false, reason: `${name} ${version} does not pass the self-test: ${fault}` };
  }
  return { ok: true, binary: { uws, version, hasPorts } };
}
