/** Loads SECRET_KEY from the environment, or, embedded, from a file that the first start makes. */

import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SettingFault } from '../std/setting-fault.ts';
import { syncFolder } from '../std/sync-folder.ts';

/** 256 bits, in base64url. */
const MADE_KEY_BYTES = 32;

interface SecretKeySource {
  readonly SECRET_KEY?: string | undefined;
  readonly DATABASE_URL?: string | undefined;
  readonly DATA_DIR: string;
}

/** The key of an embedded database lies here, unless SECRET_KEY is set. */
export const secretKeyPath = (dataDir: string): string => join(dataDir, 'secret.key');

/** Makes `DATA_DIR/secret.key` (0600) when there is neither that nor a setting. */
export async function loadSecretKey(source: SecretKeySource): Promise<string> {
  if (source.SECRET_KEY !== undefined) return source.SECRET_KEY;
  if (source.DATABASE_URL !== undefined) {
    throw new SettingFault(
      'SECRET_KEY: must be set when DATABASE_URL is set, to the same value on every node.',
    );
  }
  const path = secretKeyPath(source.DATA_DIR);
  const known = await readKey(path);
  if (known !== null) return known;
  await writeKey(source.DATA_DIR, randomBytes(MADE_KEY_BYTES).toString('base64url'));
  const made = await readKey(path);
  if (made === null) throw new Error(`${path} vanished while it was made.`);
  return made;
}

/** Puts a key beside the embedded database that was made with it. False: another one is there. */
export async function keepSecretKey(dataDir: string, key: string): Promise<boolean> {
  await writeKey(dataDir, key);
  return (await readKey(secretKeyPath(dataDir))) === key;
}

async function readKey(path: string): Promise<string | null> {
  try {
    const key = (await readFile(path, 'utf8')).trim();
    if (key === '')
      throw new SettingFault(`DATA_DIR: ${path} is empty: restore the key that it held.`);
    return key;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/**
 * Writes under another name, then links, which never replaces a file: a crash leaves no half key,
 * and two starts at once read the first's. Without its key every credential is lost, hence fsync.
 */
async function writeKey(dataDir: string, key: string): Promise<void> {
  const path = secretKeyPath(dataDir);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(`${key}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(temporary, path);
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(temporary, { force: true });
  }
  syncFolder(dataDir);
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
