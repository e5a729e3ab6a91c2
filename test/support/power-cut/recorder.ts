/**
 * Loaded into an engine by `--import`: records what its threads and processes change and sync of
 * the embedded database, between PGlite's file system and Node's `fs`. The query of its own URL
 * says which data directory, and where to.
 */

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { threadId } from 'node:worker_threads';
import type { Change } from './recording.ts';
import { encode } from './recording.ts';

const { searchParams } = new URL(import.meta.url);
const dataDir = searchParams.get('dataDir') ?? '';
const recording = searchParams.get('recording') ?? '';
const { appendFileSync } = fs;
const opened = new Set<unknown>();

const append = (change: Change, data?: Uint8Array): void =>
  appendFileSync(recording, encode(change, data));
/** The data directory itself counts: the database is moved there when it is complete. */
const isRecorded = (path: unknown): path is string =>
  typeof path === 'string' && (path === dataDir || path.startsWith(`${dataDir}/postgres`));
const nameOf = (descriptor: unknown): string => `${process.pid}.${threadId}.${descriptor}`;

type Args = readonly unknown[];

/** Some of these functions call others of them. */
let isWithin = false;

/** Calls `note` after each call that did not throw. */
function after(name: keyof typeof fs, note: (args: Args, result: unknown) => void): void {
  const real = fs[name] as (...args: Args) => unknown;
  const noting = (...args: Args): unknown => {
    if (isWithin) return real(...args);
    isWithin = true;
    try {
      const result = real(...args);
      note(args, result);
      return result;
    } finally {
      isWithin = false;
    }
  };
  Object.assign(fs, { [name]: noting });
}

const afterWithPath = (name: keyof typeof fs, note: (path: string, args: Args) => void): void =>
  after(name, (args) => {
    if (isRecorded(args[0])) note(args[0], args);
  });

const afterOnOpened = (name: keyof typeof fs, note: (file: string, args: Args) => void): void =>
  after(name, (args) => {
    if (opened.has(args[0])) note(nameOf(args[0]), args);
  });

after('openSync', ([path, flags], descriptor) => {
  if (!isRecorded(path)) return;
  if (typeof flags === 'number' && (flags & fs.constants.O_TRUNC) !== 0) unknown('truncates', path);
  opened.add(descriptor);
  append({ kind: 'open', file: nameOf(descriptor), path });
});
after('closeSync', ([descriptor]) => opened.delete(descriptor));
after('writeSync', ([descriptor, data, offset, , position], written) => {
  if (!opened.has(descriptor)) return;
  const { buffer, byteOffset } = data as Uint8Array;
  append(
    { kind: 'write', file: nameOf(descriptor), position: Number(position) },
    new Uint8Array(buffer, byteOffset + Number(offset), Number(written)),
  );
});
afterOnOpened('fsyncSync', (file) => append({ kind: 'fsync', file }));
afterOnOpened('ftruncateSync', (file, [, size]) =>
  append({ kind: 'truncate-open', file, size: Number(size ?? 0) }),
);
afterWithPath('truncateSync', (path, [, size]) =>
  append({ kind: 'truncate', path, size: Number(size ?? 0) }),
);
afterWithPath('writeFileSync', (path, [, data]) => {
  if (data !== '') unknown('writes', path);
  append({ kind: 'create', path });
});
afterWithPath('mkdirSync', (path) => append({ kind: 'make-folder', path }));
afterWithPath('unlinkSync', (path) => append({ kind: 'remove', path }));
afterWithPath('rmdirSync', (path) => append({ kind: 'remove', path }));
afterWithPath('renameSync', (path, [, to]) => append({ kind: 'rename', path, to: String(to) }));
syncBuiltinESMExports();

function unknown(what: string, path: string): never {
  throw new Error(`The recorder does not know how a call ${what} ${path}.`);
}
