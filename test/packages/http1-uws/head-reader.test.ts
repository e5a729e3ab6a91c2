/** Request lines that uWebSockets.js takes, and the front of our own does not. */

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
