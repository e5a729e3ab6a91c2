/**
 * Where a request comes from: browsers say it in Sec-Fetch-Site, over TLS and to this machine, or
 * with the Origin of every method that changes something. A proxy must pass the Host on.
 */

import type { RequestHead } from '../../packages/http1/src/request-head.ts';
import type { Cors } from './cors.ts';
import type { Route } from './handler.ts';

const SAFE_METHODS: readonly string[] = ['GET', 'HEAD'];
const SCHEME = /^https?:\/\//;
/** A request that no page has made: a person has typed the address. */
const NO_PAGE = 'none';
/** A page may send these elsewhere without asking us first (Fetch, section 2.2.2). */
const SIMPLE_TYPES = ['', 'application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'];

/** Whether it comes from our own page, or reads something and does not say where it is from. */
export function isOfOwnPage({ method, headers }: RequestHead): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== '') return site === 'same-origin';
  const origin = headers.get('origin');
  return origin === '' ? SAFE_METHODS.includes(method) : isOurs(origin, headers.get('host'));
}

/**
 * Whether a page of another site can have made it with a password that the browser remembers: it
 * changes something, and no preflight has allowed it (own headers and JSON need one). An app's
 * credential is in every copy of the app: on the App API scripts may send it in any way.
 */
export function isForgeable(
  { method, headers }: RequestHead,
  { api }: Pick<Route, 'api'>,
  cors: Pick<Cors, 'names'>,
): boolean {
  if (SAFE_METHODS.includes(method)) return false;
  const [site, origin] = [headers.get('sec-fetch-site'), headers.get('origin')];
  const isOfThisSite =
    site === ''
      ? origin === '' || isOurs(origin, headers.get('host'))
      : site === 'same-origin' || site === NO_PAGE;
  if (isOfThisSite) return false;
  const mode = headers.get('sec-fetch-mode');
  // A form, an image, a script without CORS: none of them can send a header of its own.
  if (mode !== '' && mode !== 'cors') return true;
  if (api === 'app' || cors.names(origin)) return false;
  const [type = ''] = headers.get('content-type').split(';');
  return method === 'POST' && SIMPLE_TYPES.includes(type.trim().toLowerCase());
}

const isOurs = (origin: string, host: string): boolean =>
  SCHEME.test(origin) && origin.replace(SCHEME, '') === host.toLowerCase();
