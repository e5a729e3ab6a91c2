/** The profile of the demo client, as an engine with a demo writes it beside its database. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseJson } from '../../../packages/std/src/json.ts';
import type { Profile } from './profiles.ts';

interface DemoFile {
  readonly baseUrl: string;
  readonly clientId: string;
  readonly appId: number;
  readonly superUser: { readonly token: string };
  readonly apiUser: { readonly token: string };
  readonly simulator: { readonly controlUrl: string };
}

/**
 * Null: no engine with a demo runs on this directory. The file of one that has ended stays, and
 * must not lead to an engine that has taken its place.
 */
export async function readDemoProfile(dataDir: string): Promise<Profile | null> {
  let text: string;
  try {
    text = await readFile(join(dataDir, 'demo.json'), 'utf8');
  } catch {
    return null;
  }
  // An engine writes it whole or not at all.
  const demo = parseJson(text) as DemoFile | undefined;
  if (demo === undefined || !(await answers(demo.simulator.controlUrl))) return null;
  return {
    url: demo.baseUrl,
    client: demo.clientId,
    token: demo.superUser.token,
    app: { id: demo.appId, token: demo.apiUser.token },
  };
}

/** @limit a command waits for the simulator of a demo → the demo does not run */
const ANSWER_MS_MAX = 2_000;

/** The simulator ends with its engine, and takes a free port each time. */
async function answers(controlUrl: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS_MAX);
    const { ok, body } = await fetch(`${controlUrl}/state`, { signal });
    await body?.cancel();
    return ok;
  } catch {
    return false;
  }
}
