/** Requests of the App API that a careful client never sends, as bytes. */

import { gzipSync } from 'node:zlib';

export interface OddWorld {
  readonly token: string;
  readonly login: string;
  readonly appId: number;
  readonly tagId: number;
}

const PATH = '/push-api/reg';
const TYPES = [
  [],
  ['Content-Type: application/json'],
  ['Content-Type: multipart/form-data; boundary=x'],
];

const TARGETS = [
  ...['/', '/push-api', '/push-api/reg/', '//push-api/reg', '/push-api//reg', '/PUSH-API/REG'],
  ...[
    '/push-api/%72eg',
    '/push-api/reg%',
    '/push-api/reg%zz',
    '/push-api/%00',
    '/push-api/reg;a=b',
  ],
  ...[
    '/push-api/reg?',
    '/push-api/reg?a',
    '/push-api/reg?a=b&a=c',
    '/push-api/reg?%',
    '/push-api/reg??',
  ],
  ...[
    '/push-api/reg#part',
    '/push-api/./reg',
    '/push-api/x/../reg',
    '/push-api/"<>\\^`{|}',
    '/%2e%2e/',
  ],
  ...[
    '/push-api/%ed%a0%80',
    '/push-api/%ff',
    '/push-api/%F0%9F%98%80',
    '/livez?a=%',
    '/push-api/tags?',
  ],
  ...[8_000, 8_191, 8_192, 8_193, 9_000].map((length) => `/${'a'.repeat(length - 1)}`),
  ...[8_191, 8_192, 8_193].map((length) => `/a?${'b'.repeat(length - 3)}`),
];
const METHODS = [
  'get',
  'Post',
  'HEAD',
  'PUT',
  'DELETE',
  'PATCH',
  'OPTIONS',
  'TRACE',
  'PURGE',
  'M-SEARCH',
];

/** Each is one or more lines. */
const FIELDS = [
  ...['Host: b', 'Host: b:80', 'Host: [::1]', 'Host: a b', 'Host: a,b', 'Host: u@a', 'Host: a/b'],
  ...['Connection: Close', 'Connection: close, x', 'Connection: x, close', 'Connection: closes'],
  ...['Connection: keep-alive', 'Connection: upgrade\r\nUpgrade: websocket', 'Upgrade: h2c'],
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13',
  ...[
    'Accept: text/plain',
    'Accept: */*;q=0',
    'Accept: a\r\nAccept: b',
    `Accept: ${'x'.repeat(5_000)}`,
  ],
  ...[
    'Accept-Encoding: gzip',
    'Accept-Encoding: br, gzip;q=0',
    'Accept-Language: de',
    'Range: bytes=0-1',
  ],
  ...[
    'Content-Type: text/plain',
    'Content-Type: application/x-www-form-urlencoded',
    'Content-Type:',
  ],
  ...['Content-Type: a\r\nContent-Type: b', 'Content-Type: application/json; charset=utf-16'],
  ...[
    'Content-Type: multipart/form-data; boundary=x',
    'Content-Encoding: gzip',
    'Content-Encoding: br',
  ],
  ...[
    'X-Request-Id: mine',
    'X-Request-Id: a"b',
    'X-Request-Id:',
    'X-Request-Id: a\r\nX-Request-Id: b',
  ],
  ...[
    'X-Forwarded-For: 10.0.0.1',
    'X-Forwarded-For: x\r\nX-Forwarded-For: y',
    'X-Forwarded-Proto: https',
  ],
  ...[
    'Origin: https://a.example',
    'Origin: null',
    'Origin:',
    'Cookie: a=b\r\nCookie: c=d',
    'Cookie: =',
  ],
  'Origin: https://a.example\r\nAccess-Control-Request-Method: POST',
  ...[
    'If-None-Match: *',
    'Idempotency-Key: one',
    'Expect: x',
    'Authorization: Bearer x',
    'A:\t \tb \t',
  ],
  ...[
    'Sec-Fetch-Site: cross-site',
    'Tagcast-Client: demo',
    'Last-Event-ID: 1',
    'X_Y: z',
    "!#$%&'*+.^`|~: a",
  ],
  ...[90, 94].map((lines) => Array.from({ length: lines }, (_, at) => `A${at}: b`).join('\r\n')),
  ...[4_000, 8_000, 15_000].map((length) => `A: ${'b'.repeat(length)}`),
];
const CREDENTIALS = [
  ...[
    '',
    'Bearer',
    'Bearer ',
    'bearer #token',
    'BEARER #token',
    'Bearer  #token',
    'Bearer #token x',
  ],
  ...['Bearer x', 'Basic', 'Basic %%%', 'Basic Og==', 'Digest a="b"', 'Basic #login', '#token'],
];
const LENGTHS = [
  '05',
  '+5',
  '5,5',
  '0x5',
  '-1',
  '1e1',
  '5 5',
  '18446744073709551616',
  '1048577',
  '',
];
const CODINGS = [
  'Chunked',
  'identity',
  'gzip, chunked',
  'chunked, chunked',
  'chunked, gzip',
  'x',
  '',
];

const BODIES = (world: OddWorld): readonly (string | Buffer)[] => {
  const device = { appId: world.appId, platformId: 3, deviceId: 'cd'.repeat(32) };
  const json = JSON.stringify({ ...device, tagId: [world.tagId] });
  const form = new URLSearchParams({ ...device, appId: `${world.appId}`, platformId: '3' });
  return [
    ...[
      '',
      ' ',
      '{',
      '{}',
      '[]',
      'null',
      '"x"',
      '1',
      '\0',
      `${json} x`,
      `\ufeff${json}`,
      `[${json}]`,
    ],
    ...[
      json,
      json.replace('"appId"', '"appid"'),
      json.replace('3', '"3"'),
      `${form}`,
      `data=${json}`,
    ],
    ...['{"appId":1,"appId":2}', '{"__proto__":{}}', `{"a":${'['.repeat(5_000)}`, '"\ud800"'],
    ...[Buffer.from(json, 'utf16le'), Buffer.from([0xff, 0xfe]), gzipSync(json)],
    `--x\r\nContent-Disposition: form-data; name="data"\r\n\r\n${json}\r\n--x--\r\n`,
  ];
};

export const APP_PATHS = ['reg', 'ureg', 'set', 'list', 'tags'].map((name) => `/push-api/${name}`);

/** All of them, by a name. Each is the last request of its connection. */
export function oddRequests(world: OddWorld): ReadonlyMap<string, Buffer> {
  const known = (text: string): string =>
    text
      .replace('#token', world.token)
      .replace('#login', Buffer.from(world.login).toString('base64'));
  const good = JSON.stringify({
    ...{ appId: world.appId, platformId: 3, deviceId: 'ef'.repeat(32), tagId: [world.tagId] },
  });
  const all = new Map<string, Buffer>();
  const add = (name: string, lines: readonly string[], body: string | Buffer = good): void => {
    const has = (field: string): boolean =>
      lines.some((line) => new RegExp(`(?:^|\r\n)${field}:`, 'i').test(line));
    const length = Buffer.byteLength(body);
    const fields = [
      ...lines,
      ...(has('Host') ? [] : ['Host: a']),
      ...(has('Connection') ? [] : ['Connection: close']),
      ...(has('Authorization') ? [] : [`Authorization: Bearer ${world.token}`]),
      ...(has('Content-Length') || has('Transfer-Encoding') ? [] : [`Content-Length: ${length}`]),
    ];
    const head = Buffer.from(known(`${fields.join('\r\n')}\r\n\r\n`), 'latin1');
    all.set(name, Buffer.concat([head, typeof body === 'string' ? Buffer.from(body) : body]));
  };
  for (const target of TARGETS) {
    for (const method of ['POST', 'GET'])
      add(`${method} ${target}`, [`${method} ${target} HTTP/1.1`]);
  }
  for (const path of APP_PATHS) {
    for (const method of METHODS) add(`${method} ${path}`, [`${method} ${path} HTTP/1.1`]);
    for (const type of path === PATH ? TYPES : [[]]) {
      for (const [index, body] of BODIES(world).entries()) {
        add(`${path} ${type} body ${index}`, [`POST ${path} HTTP/1.1`, ...type], body);
      }
    }
  }
  const post = `POST ${PATH} HTTP/1.1`;
  for (const field of FIELDS) add(field, [post, field]);
  for (const value of CREDENTIALS)
    add(`Authorization: ${value}`, [post, `Authorization: ${value}`]);
  for (const value of LENGTHS) add(`Content-Length: ${value}`, [post, `Content-Length: ${value}`]);
  const chunks = `${Buffer.byteLength(good).toString(16)}\r\n${good}\r\n0\r\n\r\n`;
  for (const value of ['chunked', ...CODINGS])
    add(`Transfer-Encoding: ${value}`, [post, `Transfer-Encoding: ${value}`], chunks);
  return all;
}
