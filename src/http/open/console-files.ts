/**
 * What the build of the console left: each file with its compressed forms, its type and its ETag.
 * They are read when somebody asks first, and kept: half a megabyte, and fewer descriptors.
 */

import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import type { Coding } from '../negotiation.ts';

export interface ConsoleFile {
  readonly type: string;
  readonly etag: string;
  readonly octets: Buffer;
  /** None for what is compressed by itself, as fonts are. */
  readonly coded: Readonly<Partial<Record<Coding, Buffer>>>;
}

/** By their paths below `/console/`. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

/** Where `npm run build` puts them: dist/console, beside dist/src. */
const DIRECTORY = join(import.meta.dirname, '..', '..', '..', 'console');
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Reads them once. Null: the console was not built. */
export function consoleFiles(directory = DIRECTORY): () => Promise<ConsoleFiles | null> {
  let read: Promise<ConsoleFiles> | null = null;
  return async () => {
    read ??= readAll(directory);
    try {
      return await read;
    } catch (error) {
      // The next caller may have more luck: it is being built, or descriptors are short.
      read = null;
      if (isMissing(error)) return null;
      throw error;
    }
  };
}

async function readAll(directory: string): Promise<ConsoleFiles> {
  const names = await readdir(directory, { recursive: true, encoding: 'utf8' });
  const octetsOf = (name: string): Promise<Buffer> => readFile(join(directory, name));
  const files = new Map<string, ConsoleFile>();
  for (const name of names) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const octets = await octetsOf(name);
    const coded = {
      ...(names.includes(`${name}.br`) && { br: await octetsOf(`${name}.br`) }),
      ...(names.includes(`${name}.gz`) && { gzip: await octetsOf(`${name}.gz`) }),
    };
    const etag = hash('sha256', octets, 'base64url').slice(0, 22);
    files.set(name.replaceAll(sep, '/'), { type, etag, octets, coded });
  }
  return files;
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';
