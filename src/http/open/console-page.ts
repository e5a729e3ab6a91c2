/**
 * `/console/`: the page for people, and the files that it loads. Their names change with their
 * contents, so browsers keep them; the page itself they ask for each time.
 */

import { matchesEntityTag } from '../entity-tag.ts';
import type { HttpRequest, HttpResponse, OpenRoute } from '../handler.ts';
import { preferredCoding } from '../negotiation.ts';
import { problem } from '../problem.ts';
import type { ConsoleFile, ConsoleFiles } from './console-files.ts';

/** It runs what this engine serves, speaks with this engine alone, and stands in no frame. */
const SAFE = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  Vary: 'Accept-Encoding',
  'X-Content-Type-Options': 'nosniff',
} as const;
const PAGE = 'index.html';
const ASK_EACH_TIME = 'no-cache';
const KEEP_FOR_EVER = 'public, max-age=31536000, immutable';

/** The page and its files, as `files` has them. */
export function consolePageRoutes(files: () => Promise<ConsoleFiles | null>): readonly OpenRoute[] {
  const shared = { operation: 'page', api: 'open', method: 'GET', bodyBytesMax: 0 } as const;
  const serve = async (
    request: HttpRequest,
    name: string,
    cacheControl: string,
  ): Promise<HttpResponse> => {
    const all = await files();
    if (all === null) return notBuilt(request);
    const file = all.get(name);
    return file === undefined
      ? problem(request.requestId, 404, 'The console has no such file. Load its page again.')
      : answer(request, file, cacheControl);
  };
  return [
    {
      ...shared,
      path: '/console',
      // Relative: a proxy may serve it under a path of its own.
      handle: () => ({ status: 308, headers: { Location: 'console/' }, body: '' }),
    },
    {
      ...shared,
      path: '/console/',
      handle: (request) => serve(request, PAGE, ASK_EACH_TIME),
    },
    {
      ...shared,
      path: '/console/assets/:file',
      handle: (request) => serve(request, `assets/${request.params['file'] ?? ''}`, KEEP_FOR_EVER),
    },
  ];
}

const notBuilt = ({ requestId }: HttpRequest): HttpResponse =>
  problem(
    requestId,
    404,
    'This engine was built without its console. Run `npm run build` and load this page again.',
  );

function answer(
  request: HttpRequest,
  { type, etag, octets, coded }: ConsoleFile,
  cacheControl: string,
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
  if (matchesEntityTag(request.header('if-none-match'), headers.ETag)) {
    return { status: 304, headers, body: '' };
  }
  return isCompressed
    ? { status: 200, headers: { ...headers, 'Content-Encoding': coding }, body: compressed }
    : { status: 200, headers, body: octets };
}
