/**
 * The built files of the console and the guides, with their compressed forms. Kept from the first
 * request: 1.5 megabytes, and fewer descriptors.
 */

import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { matchesEntityTag } from '../../http/entity-tag.ts';
import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import type { Coding } from '../../http/negotiation.ts';
import { preferredCoding } from '../../http/negotiation.ts';

interface BuiltFile {
  readonly type: string;
  readonly etag: string;
  readonly octets: Buffer;
  /** None for what is compressed by itself, as fonts are. */
  readonly coded: Readonly<Partial<Record<Coding, Buffer>>>;
}

/** Keyed by their paths in the folder of the build. */
export type BuiltFiles = ReadonlyMap<string, BuiltFile>;

/** Where `npm run build` puts its folders: dist, beside dist/src. */
const DIST = join(import.meta.dirname, '..', '..', '..');
export const CONSOLE_FOLDER = join(DIST, 'console');
export const GUIDES_FOLDER = join(DIST, 'guides');

export const ASK_EACH_TIME = 'no-cache';
/** For files whose names change with their contents. */
export const KEEP_FOR_EVER = 'public, max-age=31536000, immutable';
/** A page runs what this engine serves, speaks with this engine alone, and stands in no frame. */
export const policyWith = (images: string): string =>
  `default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src ${images}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
const SAFE = {
  'Content-Security-Policy': policyWith("'self' data:"),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  Vary: 'Accept-Encoding',
  'X-Content-Type-Options': 'nosniff',
} as const;
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.tgz': 'application/gzip',
};

/** Reads them once. Null: they were not built. */
export function builtFiles(directory: string): () => Promise<BuiltFiles | null> {
  let read: Promise<BuiltFiles> | null = null;
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

/** A file as this browser takes it; nothing when it has it. That of a 404 it always gets. */
export function answerFile(
  request: HttpRequest,
  { type, etag, octets, coded }: BuiltFile,
  cacheControl: string,
  status: 200 | 404 = 200,
): HttpResponse {
  const coding = preferredCoding(request.header('accept-encoding'));
  const compressed = coding === null ? undefined : coded[coding];
  const isCompressed = coding !== null && compressed !== undefined;
  const headers = {
    ...SAFE,
    'Cache-Control': cacheControl,
    'Content-Type': type,
    // Other bytes need another ETag.
    ETag: isCompressed ? `"${etag}-${coding}"` : `"${etag}"`,
  };
  if (status === 200 && matchesEntityTag(request.header('if-none-match'), headers.ETag)) {
    return { status: 304, headers, body: '' };
  }
  return isCompressed
    ? { status, headers: { ...headers, 'Content-Encoding': coding }, body: compressed }
    : { status, headers, body: octets };
}

async function readAll(directory: string): Promise<BuiltFiles> {
  const names = await readdir(directory, { recursive: true, encoding: 'utf8' });
  const octetsOf = (name: string): Promise<Buffer> => readFile(join(directory, name));
  const files = new Map<string, BuiltFile>();
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
