/** `GET /openapi.json`: made when it is first asked for, and kept. */

import { hash } from 'node:crypto';
import { z } from 'zod';
import { matchesEntityTag } from '../../http/entity-tag.ts';
import type { HttpResponse, OpenRoute, Route } from '../../http/handler.ts';
import type { Operation } from '../../http/openapi/operation.ts';
import { jsonAnswer, UNCHANGED } from '../../http/openapi/parts.ts';

export function withDocument(routes: readonly Route[]): readonly Route[] {
  const all: readonly Route[] = [...routes, documentRoute(() => all)];
  return all;
}

const document = {
  summary: 'This document',
  headers: {
    'If-None-Match': {
      description: 'The ETag of the document that the caller has.',
      schema: z.string(),
      example: '"pX0r1Jcx9Ssbo1v6dYkm8g"',
    },
  },
  answers: {
    200: jsonAnswer(
      'OpenAPI 3.1.',
      z.looseObject({ openapi: z.string() }),
      { openapi: '3.1.1' },
      { ETag: 'Changes with the document.' },
    ),
    304: UNCHANGED,
  },
} satisfies Operation;

function documentRoute(routes: () => readonly Route[]): OpenRoute {
  let made: Promise<Rendered> | null = null;
  return {
    operation: 'getOpenApi',
    document,
    api: 'open',
    method: 'GET',
    path: '/openapi.json',
    bodyBytesMax: 0,
    async handle(request) {
      made ??= render(routes());
      const { body, headers } = await made.catch((error: unknown) => {
        // The next caller may have more luck: a module cannot be read while descriptors are short.
        made = null;
        throw error;
      });
      const isKnown = matchesEntityTag(request.header('if-none-match'), headers.ETag);
      return isKnown ? { status: 304, headers, body: '' } : { status: 200, headers, body };
    },
  };
}

interface Rendered extends HttpResponse {
  readonly headers: Readonly<Record<string, string>> & { readonly ETag: string };
}

async function render(routes: readonly Route[]): Promise<Rendered> {
  const { makeDocument } = await import('./document.ts');
  const body = Buffer.from(JSON.stringify(makeDocument(routes)));
  const headers = {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-cache',
    ETag: `"${hash('sha256', body, 'base64url').slice(0, 22)}"`,
    // The document has no secret: pages of every origin may read it.
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': 'ETag',
  };
  return { status: 200, headers, body };
}
