/** New files with secrets or device tokens: for their owner only, never over an existing file. */

import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { UsageError } from './arguments.ts';

export async function createPrivateFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'ax', 0o600);
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    const why = isThere ? `${path} exists already` : `cannot write ${path}`;
    throw new UsageError(why, { cause: error });
  }
}
