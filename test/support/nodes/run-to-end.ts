/** Programs that fetch what the tests of other versions of Node need. */

import { spawnSync } from 'node:child_process';

/** apt reads the list of a whole release, in half a minute. */
const RUN_MS_MAX = 300_000;

export interface Ended {
  /** Null: it is not installed, or has taken too long. */
  readonly status: number | null;
  readonly stdout: string;
  /** The last line of its errors. */
  readonly fault: string;
}

/** A file or folder that is there now, or why it is not. */
export type Found = { readonly path: string } | { readonly missing: string };

export function runToEnd(program: string, args: readonly string[], cwd: string): Ended {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    timeout: RUN_MS_MAX,
  });
  // A program that does not start has no streams, whatever their types say.
  if (error !== undefined) return { status, stdout: stdout ?? '', fault: error.message };
  return { status, stdout, fault: stderr.trimEnd().split('\n').at(-1) ?? '' };
}
