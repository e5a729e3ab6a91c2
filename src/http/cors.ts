/** Cross-origin calls from browsers, mainly to the App and Admin API. Never with cookies. */

type Headers = Readonly<Record<string, string>>;

export interface Cors {
  /** Whether the operator has named this origin; `*` names none. */
  names(origin: string): boolean;
  /** Headers of an answer to a request with this Origin; none without one. */
  headersFor(origin: string): Headers;
  preflightHeaders(origin: string, methods: readonly string[], askedHeaders: string): Headers;
}

/**
 * For a preflight that names none; others get what they name. `*` would not cover Authorization
 * (Fetch, section 3.2.5).
 */
const ALLOWED_HEADERS =
  'Authorization, Content-Type, Accept, Idempotency-Key, If-None-Match, X-Request-Id';
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/;
const EXPOSED_HEADERS =
  'Tagcast-Ignored, ETag, X-Request-Id, Retry-After, Deprecation, Link, WWW-Authenticate';
/**
 * Chromium's bound.
 * @limit browsers remember a preflight for → asked again
 */
const MAX_AGE_SECONDS = '7200';

const NONE: Headers = Object.freeze({});

/** `origins` as configured: `*` among them allows every origin. */
export function createCors(origins: readonly string[]): Cors {
  if (origins.includes('*')) return createFrom(() => ALLOW_ALL, origins);
  const allowed = new Map(
    origins.map((origin) => [
      origin,
      Object.freeze({
        'Access-Control-Allow-Origin': origin,
        'Access-Control-Expose-Headers': EXPOSED_HEADERS,
        Vary: 'Origin',
      }),
    ]),
  );
  return createFrom((origin) => allowed.get(origin) ?? VARIES, origins);
}

const ALLOW_ALL: Headers = Object.freeze({
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED_HEADERS,
});
/** The origin is not allowed, and a cache must not give this answer to an origin that is. */
const VARIES: Headers = Object.freeze({ Vary: 'Origin' });

function createFrom(headersOf: (origin: string) => Headers, origins: readonly string[]): Cors {
  const headersFor = (origin: string): Headers => (origin === '' ? NONE : headersOf(origin));
  return {
    names: (origin) => origins.includes(origin),
    headersFor,
    preflightHeaders(origin, methods, askedHeaders) {
      if (headersFor(origin)['Access-Control-Allow-Origin'] === undefined) return NONE;
      return {
        'Access-Control-Allow-Methods': methods.join(', '),
        'Access-Control-Allow-Headers': HEADER_NAMES.test(askedHeaders)
          ? askedHeaders
          : ALLOWED_HEADERS,
        'Access-Control-Max-Age': MAX_AGE_SECONDS,
      };
    },
  };
}
