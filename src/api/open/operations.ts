/** What the OpenAPI document says of the routes that everybody may call. */

import { z } from 'zod';
import type { Answer, Operations } from '../../http/openapi/operation.ts';
import { jsonAnswer } from '../../http/openapi/parts.ts';
import { VIEWER_FILES } from './api-viewer.ts';

const readiness = z
  .object({
    status: z.enum(['ok', 'draining', 'unavailable']),
    stores: z.object({
      postgres: z.enum(['ok', 'cannot write', 'unavailable']),
      redis: z.enum(['ok', 'unavailable']).optional(),
    }),
  })
  .meta({ id: 'Readiness', description: 'Redis may be unavailable: sends go on without it.' });

const UNCHANGED: Answer = {
  description: 'Unchanged since the ETag of `If-None-Match`.',
  content: {},
};

export const openOperations = {
  getAbout: {
    summary: 'What this service is, and where its APIs are',
    answers: {
      200: {
        description: 'As text; as JSON for callers that name it in `Accept`.',
        content: {
          'text/plain': { schema: z.string(), example: 'Tagcast: A push delivery engine …' },
          'application/json': {
            schema: z.record(z.string(), z.string()),
            example: { name: 'tagcast', alive: '/livez', ready: '/readyz' },
          },
        },
      },
      303: { description: 'To the console, for browsers.', content: {} },
    },
  },
  getLiveness: {
    summary: 'Whether the process answers',
    answers: {
      200: jsonAnswer('It does.', z.object({ status: z.literal('ok') }), { status: 'ok' }),
    },
  },
  getReadiness: {
    summary: 'Whether this node can serve',
    answers: {
      200: jsonAnswer('It can.', readiness, { status: 'ok', stores: { postgres: 'ok' } }),
      503: jsonAnswer('Send it nothing.', readiness, {
        status: 'draining',
        stores: { postgres: 'ok' },
      }),
    },
  },
  getMetrics: {
    summary: 'Metrics for Prometheus',
    description:
      "Served to this machine, and to others that send the operator's token as `Authorization: Bearer`.",
    answers: {
      200: {
        description: 'In the text format of Prometheus.',
        content: {
          'text/plain': { schema: z.string(), example: 'tagcast_http_requests_total{…} 1' },
        },
      },
    },
    problems: [403, 429],
  },
  getOpenApi: {
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
  },
  getApiViewer: {
    summary: 'A page to read this document and to try it',
    answers: {
      200: {
        description: 'For browsers.',
        content: { 'text/html': { schema: z.string(), example: '<!doctype html>…' } },
      },
      304: UNCHANGED,
    },
  },
  getApiViewerFile: {
    summary: 'What that page loads',
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
  },
} as const satisfies Operations;
