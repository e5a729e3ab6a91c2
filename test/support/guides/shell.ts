/**
 * A shell as a reader has one: it goes through a page, keeps its variables, and stands in a folder.
 * Two programs are others than the reader's: `npm start -- …` begins without installing and
 * building what the tests run from, and `node` compiles TypeScript where it is too old to read it.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../documents.ts';
import { searchPath } from '../environment.ts';
import type { Lifetime } from '../lifetime.ts';
import { MAIN } from '../processes.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

const NPM = `#!/bin/sh
# npm start [--silent] -- ARGUMENTS
while [ "$1" != -- ]; do
  case "$1" in start|--silent) shift ;; *) echo "npm $*: not in this test" >&2; exit 2 ;; esac
done
shift
exec "$REAL_NODE" "$MAIN" "$@"
`;

/** Strictly: what a reader pastes into a program of theirs has to compile there. */
const NODE = `#!/bin/sh
case "$1" in
  *.mts)
    "$REAL_NODE" "$TSC" --strict --noUncheckedIndexedAccess --target es2023 --lib es2023 --module nodenext --types node --typeRoots "$TYPES" "$1" >&2 || exit 1
    program=\${1%.mts}.mjs
    shift
    exec "$REAL_NODE" "$program" "$@" ;;
esac
exec "$REAL_NODE" "$@"
`;

export interface Ran {
  /** The exit code of the last command. */
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface Shell {
  readonly folder: string;
  /** Goes on in the same shell. */
  run(code: string): Promise<Ran>;
}

export function openShell(t: Lifetime, environment: Readonly<Record<string, string>>): Shell {
  const folder = temporaryDirectory(t);
  const programs = join(folder, '.programs');
  mkdirSync(programs);
  for (const [name, text] of [
    ['npm', NPM],
    ['node', NODE],
  ] as const) {
    writeFileSync(join(programs, name), text);
    chmodSync(join(programs, name), 0o755);
  }
  symlinkSync(MAIN, join(programs, 'tagcast'));
  // The folder is that of the engine: what `npm start` has built is there.
  symlinkSync(join(ROOT, 'dist'), join(folder, 'dist'));
  const child = spawn('bash', ['--noprofile', '--norc'], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'pipe'],
    // A group of its own: what a block leaves running ends with it.
    detached: true,
    env: {
      PATH: `${programs}:${searchPath}`,
      HOME: folder,
      REAL_NODE: process.execPath,
      MAIN,
      TSC: join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'),
      TYPES: join(ROOT, 'node_modules', '@types'),
      ...environment,
    },
  });
  t.teardown(() => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  let count = 0;
  return {
    folder,
    async run(code) {
      count += 1;
      const file = join(folder, `.block-${count}.sh`);
      writeFileSync(file, code);
      const end = `\n--- block ${count} ended `;
      [out, err] = ['', ''];
      child.stdin.write(`. ${file} </dev/null; printf '${end.replaceAll('\n', '\\n')}%s\\n' $?\n`);
      for (;;) {
        const [printed = '', rest] = out.split(end);
        if (rest?.endsWith('\n')) return { code: Number(rest), out: printed, err };
        const hasEnded = child.exitCode !== null || child.signalCode !== null;
        if (hasEnded) return { code: child.exitCode ?? 1, out, err };
        const looked = new AbortController();
        const looking = { signal: looked.signal };
        await Promise.race([once(child.stdout, 'data', looking), once(child, 'exit', looking)]);
        looked.abort();
      }
    },
  };
}
