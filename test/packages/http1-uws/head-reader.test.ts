/** Request lines that both fronts take or refuse, whatever uWebSockets.js does with them. */

import t from 'tap';
import { HeadParser } from '../../../packages/http1/src/parse-head.ts';
import { HeadReader } from '../../../packages/http1-uws/src/head-reader.ts';
import type { UwsRequest } from '../../../packages/http1-uws/src/uws.ts';

const requestOf = (method: string, path: string): UwsRequest => ({
  getCaseSensitiveMethod: () => method,
  getUrl: () => path,
  getQuery: () => undefined,
  forEach: (take) => take('host', 'a'),
});

t.test('both fronts take paths of the same lengths', (t) => {
  const reader = new HeadReader([]);
  const parser = new HeadParser([]);
  for (const [length, expected] of [
    [8_192, { kind: 'head' }],
    [8_193, { status: 414 }],
  ] as const) {
    const path = `/${'a'.repeat(length - 1)}`;
    t.match(reader.read(requestOf('GET', path)).head, expected);
    t.match(parser.parse(`GET ${path} HTTP/1.1\r\nHost: a`), expected);
  }
  t.end();
});

t.test('both fronts refuse the same methods', (t) => {
  const reader = new HeadReader([]);
  const parser = new HeadParser([]);
  for (const method of [
    'GET',
    'get',
    'M-SEARCH',
    "a!#$%&'*+.^_`|~9",
    'G"T',
    'G(T',
    '\x01',
    'G\xe4T',
    '{}',
  ]) {
    const { head } = reader.read(requestOf(method, '/a'));
    t.same(head, parser.parse(`${method} /a HTTP/1.1\r\nHost: a`), method);
  }
  t.match(reader.read(requestOf('G"T', '/a')).head, { status: 400 });
  t.end();
});
