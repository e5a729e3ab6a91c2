/** Profiles of a publisher's commands: one file of this user's, with tokens, for its owner only. */

import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseObject } from '../../../packages/std/src/json.ts';
import { UsageError } from '../arguments.ts';
import { writeState } from '../state-file.ts';

export interface Profile {
  /** The URL of the engine, without the path of an API. */
  readonly url: string;
  readonly client: string;
  readonly token: string;
  /** For what an app does on a device; null: none was given. */
  readonly app: { readonly id: number; readonly token: string } | null;
}

export interface Profiles {
  /** The name of the one that is used when a command names none; null: there is none. */
  readonly current: string | null;
  readonly byName: Readonly<Record<string, Profile>>;
}

const NONE: Profiles = { current: null, byName: {} };

/** All profiles; none, if there is no file. */
export async function readProfiles(path: string): Promise<Profiles> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return NONE;
    throw new UsageError(`cannot read ${path}`, { cause: error });
  }
  const profiles = parseObject(text);
  if (profiles === undefined || !isProfiles(profiles)) {
    throw new UsageError(`${path} does not hold profiles: repair it, or remove it to start over`);
  }
  return profiles;
}

export async function writeProfiles(path: string, profiles: Profiles): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeState(path, profiles);
  } catch (error) {
    throw new UsageError(`cannot write ${path}`, { cause: error });
  }
}

function isProfiles(value: object): value is Profiles {
  const { current, byName } = value as Partial<Profiles>;
  if (current !== null && typeof current !== 'string') return false;
  return isRecord(byName) && Object.values(byName).every(isProfile);
}

function isProfile(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { url, client, token, app } = value;
  const hasApp = isRecord(app) && typeof app['id'] === 'number' && isText(app['token']);
  return isText(url) && isText(client) && isText(token) && (app === null || hasApp);
}

const isText = (value: unknown): value is string => typeof value === 'string';

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
