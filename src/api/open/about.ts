/** `/`: leads browsers to the console, and names the product and its APIs' paths to others. */

import { z } from 'zod';
import type { HttpResponse, OpenRoute } from '../../http/handler.ts';
import type { Operation } from '../../http/openapi/operation.ts';

const ABOUT = {
  name: 'tagcast',
  description: 'A push delivery engine: devices register for tags, one notification reaches them.',
  apps: '/push-api',
  administration: '/push-admin-api',
  alive: '/livez',
  ready: '/readyz',
  console: '/console/',
  documentation: '/docs/',
  openapi: '/openapi.json',
};

const TEXT = `Tagcast: ${ABOUT.description}

How to use it         ${ABOUT.documentation}
Apps and publishers   ${ABOUT.apps}/…         with credentials
Administration        ${ABOUT.administration}/…   with credentials
In a browser          ${ABOUT.console}
Health                ${ABOUT.alive}, ${ABOUT.ready}
All requests          ${ABOUT.documentation}api, ${ABOUT.openapi}
`;

const document = {
  summary: 'Name this service and the paths of its APIs',
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
} satisfies Operation;

/** Without the version: it shows an attacker which faults to try. */
export const aboutRoute: OpenRoute = {
  operation: 'getAbout',
  document,
  api: 'open',
  method: 'GET',
  path: '/',
  bodyBytesMax: 0,
  handle(request) {
    const accept = request.header('accept').toLowerCase();
    if (accept.includes('application/json')) return JSON_ANSWER;
    return accept.includes('text/html') ? TO_THE_CONSOLE : TEXT_ANSWER;
  },
};

/** Who names JSON gets JSON, who names HTML is a browser, and curl accepts anything. */
const SHARED = { 'Cache-Control': 'no-store', Vary: 'Accept' } as const;

const JSON_ANSWER: HttpResponse = {
  status: 200,
  headers: { ...SHARED, 'Content-Type': 'application/json' },
  body: JSON.stringify(ABOUT),
};

const TEXT_ANSWER: HttpResponse = {
  status: 200,
  headers: { ...SHARED, 'Content-Type': 'text/plain; charset=utf-8' },
  body: TEXT,
};

/** Relative: a proxy may serve it under a path of its own. */
const TO_THE_CONSOLE: HttpResponse = {
  status: 303,
  headers: { ...SHARED, Location: 'console/' },
  body: '',
};
