/** The state that a command keeps beside its file, from which the next run continues. */

import { open, readFile, rename, rm } from 'node:fs/promises';
import type { z } from 'zod';
import { parseJson } from '../../packages/std/src/json.ts';
import { UsageError } from './arguments.ts';

export async function readState<T>(path: string, form: z.ZodType<T>): Promise<T | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return null;
    throw new UsageError(`cannot read ${path}`, { cause: error });
  }
  const parsed = form.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new UsageError(`${path} is not a state file of this command: remove it to start over`);
}

/** Renamed when its content is on the disk, so that a complete one always exists. */
export async function writeState(path: string, state: unknown): Promise<void> {
  const temporary = `${path}.new`;
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.writeFile(`${JSON.stringify(state)}\n`);
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}

export const removeState = (path: string): Promise<void> => rm(path, { force: true });

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';
