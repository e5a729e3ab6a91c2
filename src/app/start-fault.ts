/** The faults that keep the service, or a command, from starting: one line for the operator. */

import { processTerminal } from '../cli/process-terminal.ts';
import type { Terminal } from '../cli/terminal.ts';
import { databaseFault, isOfDatabase } from '../database/database-fault.ts';
import { dataDirFault } from '../database/embedded/data-dir.ts';
import { SettingFault } from '../std/setting-fault.ts';
import type { Config } from './config.ts';

/** Null: a bug of ours, whose stack is wanted. `config` is null when it has not been read yet. */
export function startFault(error: unknown, config: Config | null): SettingFault | null {
  if (error instanceof SettingFault) return error;
  if (config === null) return null;
  const { DATABASE_URL, DATA_DIR } = config;
  if (DATABASE_URL === undefined) return dataDirFault(DATA_DIR, error);
  return isOfDatabase(error) ? databaseFault(DATABASE_URL, error) : null;
}

/** Complains with the line, and with the stacks after it at the log levels debug and trace. */
export function tellFault(
  fault: SettingFault,
  config: Config | null,
  { complain }: Pick<Terminal, 'complain'> = processTerminal,
): void {
  const isDebugging = config?.LOG_LEVEL === 'debug' || config?.LOG_LEVEL === 'trace';
  const lines = isDebugging ? [fault.message, ...stacksOf(fault)] : [fault.message];
  complain(lines.join('\n'));
}

/** Only stacks: other fields of an error may hold a secret. */
function stacksOf(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [];
  return [error.stack ?? '', ...stacksOf(error.cause)];
}
