/**
 * `/docs/api`: reads the interface and tries it here. Swagger UI, from its package: nothing is
 * fetched from elsewhere.
 */

import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { z } from 'zod';
import { matchesEntityTag } from '../../http/entity-tag.ts';
import type { HttpRequest, HttpResponse, OpenRoute } from '../../http/handler.ts';
import { acceptsGzip } from '../../http/negotiation.ts';
import type { Operation } from '../../http/openapi/operation.ts';
import { UNCHANGED } from '../../http/openapi/parts.ts';
import { problem } from '../../http/problem.ts';

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tagcast: the API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="api/swagger-ui.css">
<div id="viewer"></div>
<script src="api/swagger-ui-bundle.js"></script>
<script src="api/viewer.js"></script>
</html>
`;

/** Without `validatorUrl: null`, it would send the address of the document to its makers. */
const SCRIPT = `SwaggerUIBundle({
  url: '../openapi.json',
  dom_id: '#viewer',
  validatorUrl: null,
  deepLinking: true,
  filter: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
});
`;

/** The page runs what this engine serves, and speaks with this engine alone. */
const HEADERS = {
  'Cache-Control': 'no-cache',
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  Vary: 'Accept-Encoding',
  'X-Content-Type-Options': 'nosniff',
} as const;

interface File {
  readonly type: string;
  /** Its text, or the package that has it. */
  readonly from: { readonly text: string } | { readonly package: string };
}

const UI = 'swagger-ui-dist';
const FILES: Readonly<Record<string, File>> = {
  'swagger-ui.css': { type: 'text/css', from: { package: UI } },
  'swagger-ui-bundle.js': { type: 'text/javascript', from: { package: UI } },
  'viewer.js': { type: 'text/javascript', from: { text: SCRIPT } },
};
export const VIEWER_FILES = Object.keys(FILES);

const PAGE_DOCUMENT = {
  summary: 'A page to read this document and to try it',
  answers: {
    200: {
      description: 'For browsers.',
      content: { 'text/html': { schema: z.string(), example: '<!doctype html>…' } },
    },
    304: UNCHANGED,
  },
} satisfies Operation;

const FILE_DOCUMENT = {
  summary: 'Files of that page',
  path: {
    file: {
      description: 'The name of the file.',
      schema: z.enum(VIEWER_FILES),
      example: 'viewer.js',
    },
  },
  answers: {
    200: {
      description: 'The file.',
      content: {
        'text/css': { schema: z.string(), example: '.swagger-ui{…}' },
        'text/javascript': { schema: z.string(), example: 'SwaggerUIBundle({…});' },
      },
    },
    304: UNCHANGED,
  },
  problems: [404],
} satisfies Operation;

export function apiViewerRoutes(): readonly OpenRoute[] {
  const shared = { api: 'open', method: 'GET', bodyBytesMax: 0 } as const;
  const kept = new Map<string, Promise<Kept>>();
  const serve = async (request: HttpRequest, name: string, file: File): Promise<HttpResponse> => {
    const made = kept.get(name) ?? compress(name, file);
    kept.set(name, made);
    try {
      return answer(request, file, await made);
    } catch (error) {
      kept.delete(name);
      throw error;
    }
  };
  return [
    {
      ...shared,
      operation: 'getApiViewer',
      document: PAGE_DOCUMENT,
      path: '/docs/api',
      handle: (request) => serve(request, '', { type: 'text/html', from: { text: PAGE } }),
    },
    {
      ...shared,
      operation: 'getApiViewerFile',
      document: FILE_DOCUMENT,
      path: '/docs/api/:file',
      handle(request) {
        const name = request.params['file'] ?? '';
        const file = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
        return file === undefined
          ? problem(request.requestId, 404, 'The viewer has no such file.')
          : serve(request, name, file);
      },
    },
  ];
}

/** A file in memory, once it was asked for: two megabytes in all. */
interface Kept {
  readonly gzipped: Buffer;
  readonly octets: Buffer;
  readonly etag: string;
}

async function compress(name: string, file: File): Promise<Kept> {
  const octets = await read(name, file);
  return {
    gzipped: await promisify(gzip)(octets),
    octets,
    etag: hash('sha256', octets, 'base64url').slice(0, 22),
  };
}

function read(name: string, { from }: File): Promise<Buffer> {
  if ('text' in from) return Promise.resolve(Buffer.from(from.text));
  return readFile(createRequire(import.meta.url).resolve(`${from.package}/${name}`));
}

function answer(request: HttpRequest, file: File, { gzipped, octets, etag }: Kept): HttpResponse {
  const isGzipped = acceptsGzip(request.header('accept-encoding'));
  const headers = {
    ...HEADERS,
    // Other bytes need another ETag.
    ETag: isGzipped ? `"${etag}-gzip"` : `"${etag}"`,
    'Content-Type': `${file.type}; charset=utf-8`,
  };
  if (matchesEntityTag(request.header('if-none-match'), headers.ETag)) {
    return { status: 304, headers, body: '' };
  }
  return isGzipped
    ? { status: 200, headers: { ...headers, 'Content-Encoding': 'gzip' }, body: gzipped }
    : { status: 200, headers, body: octets };
}
