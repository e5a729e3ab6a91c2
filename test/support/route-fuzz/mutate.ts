/** Changes a valid request into one that a careless or a hostile caller might send. */

import type { Random } from '../http2/played/random.ts';
import type { Request } from './valid.ts';
import type { World } from './world.ts';

type Mutation = (random: Random, request: Request, world: World) => Request;

const LONG = 70_000;
const nested = (depth: number): unknown =>
  Array.from({ length: depth }).reduce<unknown>((inner) => [inner], 1);

/** In place of a value of a body. */
const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  -0,
  1.5,
  7,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 53,
  1e308,
  '',
  ' ',
  '0',
  '-1',
  '7',
  '1e3',
  '99999999999999999999',
  'NaN',
  '\0',
  'a\0b',
  '\ud800',
  '\u202e\u{1f600}',
  '<script>alert(1)</script>',
  "'; drop table devices; --",
  '(goals || #1) && !doomed',
  '('.repeat(5_000),
  '!'.repeat(5_000),
  '{"title":"nested"}',
  '1970-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999999999+99:99',
  '+275760-09-13T00:00:00.001Z',
  'x'.repeat(256),
  'x'.repeat(LONG),
  [],
  {},
  [[]],
  [null],
  ['', ''],
  [1, 1, '1', { id: 1 }],
  Array.from({ length: 1_001 }, (_, index) => index),
  nested(40),
  nested(4_000),
  { id: 1, name: 'x' },
  { toString: 1, constructor: null, hasOwnProperty: 'x' },
  JSON.parse('{"__proto__":{"isAdmin":true}}'),
  { aps: { alert: { title: nested(20) } } },
];

/** Names that some object of some body has, or that an object of JavaScript has. */
const NAMES = [
  ...['id', 'name', 'tagId', 'tagIds', 'tags', 'groups', 'sourceId', 'appId', 'appIds', 'payload'],
  ...[
    'dryRun',
    'dry_run',
    'audience',
    'ratePerSecond',
    'priority',
    'delivery',
    'expiresAt',
    'sendAt',
    'data',
    'apns',
    'fcm',
    'webpush',
  ],
  ...['__proto__', 'constructor', 'toString', 'length', '', '\0', 'x'.repeat(300)],
];

/** In place of a part of a path or a value of a query; encoded. */
const PARTS = [
  ...['0', '-1', '1', '2147483647', '2147483648', '99999999999999999999', '1.5', '0x1', '%20'],
  ...['%00', '%', '%ff', '%ed%a0%80', '%2f..%2f..', '..', '.', '%3b', "'", 'null', 'x', '*'],
  ...['019c6f5e-8a53-7d0e-9d3a-6f5c3c0d1e52', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
  ...['a'.repeat(300), '%F0%9F%98%80', 'goals', 'sourceId', 'super-user', 'api-user', ''],
];

const QUERY_NAMES = [
  ...['limit', 'cursor', 'page', 'count', 'state', 'appId', 'tagId', 'from', 'to', 'q', 'groupId'],
  ...['sourceId', '__proto__', 'x'.repeat(100), ''],
];

const HEADERS: readonly (readonly [name: string, values: readonly string[]])[] = [
  [
    'content-type',
    [
      'text/plain',
      'application/json; charset=utf-16',
      'multipart/form-data',
      'multipart/form-data; boundary=',
      'multipart/form-data; boundary=x',
      'multipart/form-data; boundary="x',
    ],
  ],
  ['accept', ['application/json', '*/*;q=0', 'text/event-stream', ',;q=', 'x'.repeat(5_000)]],
  ['accept-encoding', ['br', 'gzip;q=0.001', '*;q=0', 'identity;q=0', ';']],
  ['idempotency-key', ['', 'one', 'x'.repeat(255), 'x'.repeat(256), '\u00ff']],
  ['if-none-match', ['*', '"x"', 'W/"x", "y"', '"']],
  ['x-request-id', ['', 'mine', '\u00ff', 'x'.repeat(200), 'a"b']],
  ['x-forwarded-for', ['', 'x', '::1', '10.0.0.1, 10.0.0.2', ','.repeat(200)]],
  ['origin', ['null', 'https://a.example', 'x'.repeat(500)]],
  ['last-event-id', ['1', '\u00ff']],
];

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'PROPFIND'];

const LITERAL = /^(?:[a-z][a-zI-]*|v\d|)$/;

const inPath: Mutation = (random, request) => {
  const { segments } = request;
  // Another name than a thing has finds nothing, and is dull: it comes less often.
  const things = segments.flatMap((segment, at) => (LITERAL.test(segment) ? [] : [at]));
  const at = random.chance(0.8) ? random.pickIfAny(things) : undefined;
  const part = random.pick(PARTS);
  const index = at ?? random.between(1, segments.length - 1);
  return { ...request, segments: segments.with(index, `raw:${part}`) };
};

const inQuery: Mutation = (random, request) => ({
  ...request,
  query: { ...request.query, [random.pick(QUERY_NAMES)]: random.pick(PARTS) },
});

const inHeaders: Mutation = (random, request) => {
  const [name, values] = random.pick(HEADERS);
  return { ...request, headers: { ...request.headers, [name]: random.pick(values) } };
};

const caller: Mutation = (random, request, world) => {
  const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
  const authorization = random.pick([
    '',
    'Bearer',
    `Bearer ${world.keyToken}`,
    `Bearer ${world.apiToken}`,
    `Bearer ${world.superToken}x`,
    `bearer  ${world.superToken}`,
    `Bearer ${'tcs_'.repeat(1_000)}`,
    basic(world.login),
    basic(`${world.login}x`),
    basic('\0:\0'),
    basic(':'),
    'Basic %%%',
    'Digest username="x"',
  ]);
  return { ...request, headers: { ...request.headers, authorization } };
};

const method: Mutation = (random, request) => ({ ...request, method: random.pick(METHODS) });

/** Replaces, removes, renames or adds something anywhere in the body. */
const inBody: Mutation = (random, request) => ({
  ...request,
  body: Buffer.isBuffer(request.body) ? request.body : changed(random, request.body),
});

function changed(random: Random, value: unknown): unknown {
  if (Array.isArray(value) && value.length > 0 && random.chance(0.7)) {
    const at = random.between(0, value.length - 1);
    return random.chance(0.2)
      ? [...value, ...value]
      : value.with(at, changed(random, value[at] as unknown));
  }
  if (typeof value === 'object' && value !== null && random.chance(0.85)) {
    const entries = Object.entries(value);
    const at = random.between(0, Math.max(0, entries.length - 1));
    const [name, inner] = entries[at] ?? ['id', 1];
    const others = entries.filter((_, index) => index !== at);
    switch (random.between(0, 5)) {
      case 0:
        return Object.fromEntries(others);
      case 1:
        return Object.fromEntries([...others, [random.pick(NAMES), inner]]);
      case 2:
        return Object.fromEntries([...entries, [random.pick(NAMES), random.pick(VALUES)]]);
      default:
        return Object.fromEntries([...others, [name, changed(random, inner)]]);
    }
  }
  return random.pick(VALUES);
}

/** The bytes of the body: cut, flipped, repeated, or no JSON at all. */
const inBytes: Mutation = (random, request) => {
  const bytes = bytesOf(request.body);
  const at = random.between(0, bytes.length);
  const body = random.pick([
    () => bytes.subarray(0, at),
    () => Buffer.concat([bytes, bytes]),
    () => Buffer.concat([bytes.subarray(0, at), random.octets(3), bytes.subarray(at)]),
    () => Buffer.concat([bytes.subarray(0, at), Buffer.from([0xff]), bytes.subarray(at + 1)]),
    () => Buffer.concat([Buffer.from('\ufeff'), bytes]),
    () =>
      Buffer.from(`--x\r\nContent-Disposition: form-data; name="data"\r\n\r\n${bytes}\r\n--x--`),
    () => Buffer.from(bytes.toString('latin1'), 'utf16le'),
    () => Buffer.from('['.repeat(LONG)),
    () => Buffer.from(`${'{"a":'.repeat(LONG / 10)}1`),
    () => Buffer.alloc(0),
    () => Buffer.alloc(1_048_577, 0x20),
  ])();
  return { ...request, body };
};

/** The more likely ones stand more than once. */
const MUTATIONS: readonly Mutation[] = [
  ...[inBody, inBody, inBody, inBody, inBody, inBytes, inPath, inPath],
  ...[inQuery, inQuery, inHeaders, inHeaders, caller, method],
];

/** Dull for a route that takes no body. */
const IN_BODY: ReadonlySet<Mutation> = new Set([inBody, inBytes]);

export function mutated(random: Random, request: Request, world: World): Request {
  let result = request;
  for (let changes = random.between(1, 3); changes > 0; changes -= 1) {
    const mutation = random.pick(MUTATIONS);
    const isDull = result.body === undefined && IN_BODY.has(mutation) && random.chance(0.9);
    result = (isDull ? inQuery : mutation)(random, result, world);
  }
  return result;
}

export function bytesOf(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body));
}

/** The target in the request line. */
export function targetOf({ segments, query }: Request): string {
  const path = segments.map((segment) =>
    segment.startsWith('raw:') ? segment.slice('raw:'.length) : encodeURIComponent(segment),
  );
  const fields = Object.entries(query).map(
    ([name, value]) => `${encodeURIComponent(name)}=${value}`,
  );
  return path.join('/') + (fields.length === 0 ? '' : `?${fields.join('&')}`);
}
