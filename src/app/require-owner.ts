/** Keeps a command from leaving files in a data directory that its engine cannot open. */

import { existsSync, readFileSync, statSync } from 'node:fs';
import { databaseDirectory } from '../database/embedded/data-dir.ts';
import { SettingFault } from '../std/setting-fault.ts';

const USERS = '/etc/passwd';

/**
 * Throws a SettingFault when the database in a directory, or the directory, is another user's. One
 * of root is not refused: when this user may write there, it was given to a group (Kubernetes).
 */
export function requireOwner(dataDir: string): void {
  const path = [databaseDirectory(dataDir), dataDir].find(existsSync);
  // Windows has no such numbers.
  const user = process.geteuid?.();
  if (path === undefined || user === undefined) return;
  const owner = statSync(path).uid;
  if (owner === user || owner === 0) return;
  const name = nameOf(owner);
  throw new SettingFault(
    `DATA_DIR: ${path} is of the user ${name}, whose engine cannot open what this command makes there: run it as that user (runuser -u ${name} -- tagcast store move …).`,
  );
}

/** Without a name, its number. */
function nameOf(user: number): string {
  const line = new RegExp(`^([^:]+):[^:]*:${user}:`, 'm');
  const known = existsSync(USERS) ? line.exec(readFileSync(USERS, 'utf8')) : null;
  return known?.[1] ?? String(user);
}
