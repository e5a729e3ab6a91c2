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
}

/** Null: no engine with a demo has run on this directory. */
export async function readDemoProfile(dataDir: string): Promise<Profile | null> {
  let text: string;
  try {
    text = await readFile(join(dataDir, 'demo.json'), 'utf8');
  } catch {
    return null;
  }
  // An engine writes it whole or not at all.
  const demo = parseJson(text) as DemoFile | undefined;
  if (demo === undefined) return null;
  return {
    url: demo.baseUrl,
    client: demo.clientId,
    token: demo.superUser.token,
    app: { id: demo.appId, token: demo.apiUser.token },
  };
}
