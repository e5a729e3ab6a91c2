/** `/`: tells people with a browser or curl what this service is and where its APIs are. */

import type { HttpRequest, HttpResponse, OpenRoute } from '../handler.ts';

const ABOUT = {
  name: 'tagcast',
  description: 'A push delivery engine: devices register for tags, one notification reaches them.',
  apps: '/push-api',
  administration: '/push-admin-api',
  alive: '/livez',
  ready: '/readyz',
  documentation: '/docs/api',
  openapi: '/openapi.json',
};

const TEXT = `Tagcast: ${ABOUT.description}

Apps and publishers   ${ABOUT.apps}/…         with credentials
Administration        ${ABOUT.administration}/…   with credentials
Health                ${ABOUT.alive}, ${ABOUT.ready}
All requests          ${ABOUT.documentation}, ${ABOUT.openapi}
`;

/**
 * Without the version: this route is open to everybody, and a version tells an attacker which
 * faults to try.
 */
export const aboutRoute: OpenRoute = {
  operation: 'getAbout',
  api: 'open',
  method: 'GET',
  path: '/',
  bodyBytesMax: 0,
  handle: (request) => (wantsJson(request) ? JSON_ANSWER : TEXT_ANSWER),
};

const JSON_ANSWER: HttpResponse = {
  status: 200,
  headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
  body: JSON.stringify(ABOUT),
};

const TEXT_ANSWER: HttpResponse = {
  status: 200,
  headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' },
  body: TEXT,
};

/** Browsers and curl accept anything and get text; callers that name JSON get JSON. */
const wantsJson = (request: HttpRequest): boolean =>
  request.header('accept').toLowerCase().includes('application/json');
