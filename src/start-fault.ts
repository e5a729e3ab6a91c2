/**
 * What keeps the service from starting, or a command from its work, told to the operator: one line,
 * the same for both.
 */

import type { Config } from './config.ts';
import { SettingFault } from './std/setting-fault.ts';
import { databaseFault, isOfDatabase } from './store/database-fault.ts';
import { dataDirFault } from './store/embedded/data-dir.ts';

/**
 * The line, or null: a fault of ours, whose stack is wanted. `config` is null when nobody has read
 * it yet.
 */
export function startFault(error: unknown, config: Config | null): SettingFault | null {
  if (error instanceof SettingFault) return error;
  if (config === null) return null;
  const { DATABASE_URL, DATA_DIR } = config;
  if (DATABASE_URL === undefined) return dataDirFault(DATA_DIR, error);
  return isOfDatabase(error) ? databaseFault(DATABASE_URL, error) : null;
}

/** Writes the line to standard error; where it comes from behind it, for whoever debugs. */
export function tellFault(fault: SettingFault, config: Config | null): void {
  const isDebugging = config?.LOG_LEVEL === 'debug' || config?.LOG_LEVEL === 'trace';
  const lines = isDebugging ? [fault.message, ...stacksOf(fault)] : [fault.message];
  process.stderr.write(`${lines.join('\n')}\n`);
}

/** Stacks alone: what else an error carries may be a secret. */
function stacksOf(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [];
  return [error.stack ?? '', ...stacksOf(error.cause)];
}
