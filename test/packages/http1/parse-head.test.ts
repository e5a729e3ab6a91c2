/** Heads of requests: what is read, and what is refused with which status. */

import t from 'tap';
import { HEADER_LINES_MAX, HeadParser } from '../../../packages/http1/src/parse-head.ts';

const parser = new HeadParser([
  ...['accept', 'authorization', 'content-type', 'cookie', 'origin', 'x-forwarded-for'],
]);
const parseHead = (text: string) => parser.parse(text);

const head = (...lines: readonly string[]): string =>
  ['POST /a HTTP/1.1', 'Host: a', ...lines].join('\r\n');

t.test('method, path, query and the headers that are read', (t) => {
  const parsed = parseHead(
    'PATCH /a%20b?x=1?y HTTP/1.1\r\nhOST: a:80\r\nAuthorization:\t Bearer  x \t\r\nX-Other: \xe4\r\nOrigin:\r\nContent-Length: 007',
  );
  t.match(parsed, {
    kind: 'head',
    method: 'PATCH',
    path: '/a%20b',
    query: 'x=1?y',
    framing: { kind: 'length', bytes: 7 },
    closes: false,
    expectsContinue: false,
  });
  if (!('kind' in parsed)) throw new Error(parsed.detail);
  t.equal(parsed.headers.get('authorization'), 'Bearer  x');
  t.equal(parsed.headers.get('origin'), '');
  t.equal(parsed.headers.get('accept'), '');
  t.end();
});

t.test('only the headers of the list are read', (t) => {
  const parsed = new HeadParser(['x-a']).parse(head('X-A: b', 'X-B: c', 'X-B: d'));
  if (!('kind' in parsed)) throw new Error(parsed.detail);
  t.equal(parsed.headers.get('x-a'), 'b');
  t.ok(parsed.headers.has('x-a'));
  t.throws(() => parsed.headers.get('x-b'), { message: /header x-b is not read/ });
  const names = Array.from({ length: 40 }, (_, index) => `x-${index}`);
  t.match(new HeadParser(names).parse(head('X-39: a', 'X-39: b')), { status: 400 });
  t.throws(() => new HeadParser(['Accept']), { message: 'header Accept is not in lower case' });
  t.end();
});

t.test('targets: absolute form, no path, asterisk', (t) => {
  for (const [target, path, query] of [
    ['http://a.example/b?c', '/b', 'c'],
    ['HTTPS://a.example', '/', ''],
    ['http://a.example?c', '/', 'c'],
    ['*', '*', ''],
    ['//b', '//b', ''],
  ] as const) {
    t.match(parseHead(`GET ${target} HTTP/1.1\r\nHost: a`), { path, query }, target);
  }
  t.end();
});

const TWICE = 'Content-Type: text/plain';

t.test('lists may come in lines; an empty first line hides nothing', (t) => {
  const parsed = parseHead(
    head('X-Forwarded-For:', 'X-Forwarded-For: 192.0.2.1', 'Accept: a', 'ACCEPT: b', TWICE, TWICE),
  );
  if (!('kind' in parsed)) throw new Error(parsed.detail);
  t.equal(parsed.headers.get('x-forwarded-for'), ', 192.0.2.1');
  t.equal(parsed.headers.get('accept'), 'a, b');
  t.equal(parsed.headers.get('content-type'), 'text/plain, text/plain', 'most routes look at none');
  t.end();
});

t.test('cookies of two lines stay apart, commas or not', (t) => {
  const parsed = parseHead(head('Cookie: a=x,b=y', 'cookie: c=z'));
  if (!('kind' in parsed)) throw new Error(parsed.detail);
  t.equal(parsed.headers.get('cookie'), 'a=x,b=y; c=z');
  t.end();
});

t.test('Connection and Expect', (t) => {
  t.match(parseHead(head('Connection: keep-alive, Close')), { closes: true });
  t.match(parseHead(head('Connection: upgrade', 'Connection: close')), { closes: true });
  t.match(parseHead(head('Connection: not-close')), { closes: false });
  t.match(parseHead(head('Expect: 100-Continue')), { expectsContinue: true });
  t.match(parseHead(head('Transfer-Encoding: Chunked')), { framing: { kind: 'chunked' } });
  t.match(parseHead('GET / HTTP/1.9\r\nHost: a'), { kind: 'head' });
  t.end();
});

t.test('what is refused', (t) => {
  const lines = (count: number): readonly string[] =>
    Array.from({ length: count }, (_, index) => `X-${index}: y`);
  const cases: readonly (readonly [text: string, status: number])[] = [
    ['', 400],
    ['GET /', 400],
    ['GET / HTTP/1.1 ', 400],
    ['GET  / HTTP/1.1\r\nHost: a', 400],
    ['GET\t/ HTTP/1.1\r\nHost: a', 400],
    ['G(T / HTTP/1.1\r\nHost: a', 400],
    ['GET a HTTP/1.1\r\nHost: a', 400],
    ['CONNECT a:80 HTTP/1.1\r\nHost: a', 400],
    ['GET /\xe4 HTTP/1.1\r\nHost: a', 400],
    ['GET / http/1.1\r\nHost: a', 400],
    ['GET / HTTP/1.0\r\nHost: a', 505],
    ['GET / HTTP/0.9\r\nHost: a', 505],
    ['PRI * HTTP/2.0', 505],
    [`GET /${'a'.repeat(8_192)} HTTP/1.1\r\nHost: a`, 414],
    ['GET / HTTP/1.1', 400],
    ['GET / HTTP/1.1\r\nHost:', 400],
    ['GET / HTTP/1.1\r\nHost: a\r\nHost: a', 400],
    ['GET / HTTP/1.1\r\nHost: a b', 400],
    ['GET / HTTP/1.1\r\nHost: a/b', 400],
    [head(...lines(HEADER_LINES_MAX)), 431],
    [head('Content-Length: x'), 400],
    [head('Content-Length: -1'), 400],
    [head('Content-Length:'), 400],
    [head('Transfer-Encoding: '), 400],
    [head('Content-Length: +1'), 400],
    [head('Content-Length: 1, 1'), 400],
    [head('Content-Length: 1', 'Content-Length: 1'), 400],
    [head('Content-Length: 1', 'Content-Length: 2'), 400],
    [head(`Content-Length: ${'9'.repeat(16)}`), 400],
    [head('Content-Length: 1', 'Transfer-Encoding: chunked'), 400],
    [head('Transfer-Encoding: gzip, chunked'), 501],
    [head('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'), 501],
    [head('Transfer-Encoding: \xa0chunked'), 501],
    [head('Transfer-Encoding: \x0bchunked'), 400],
    [head('Transfer-Encoding : chunked'), 400],
    [head('X: a', ' folded'), 400],
    [head('X y: a'), 400],
    [head(': a'), 400],
    [head('no colon'), 400],
    [head('X: a\rb'), 400],
    [head('X: a\nb'), 400],
    [head('X: a\0b'), 400],
    [head('Authorization: a', 'Authorization: b'), 400],
    [head('Expect: 200-ok'), 417],
  ];
  for (const [text, status] of cases) {
    t.match(parseHead(text), { status }, JSON.stringify(text.slice(0, 80)));
  }
  t.match(parseHead(head(...lines(HEADER_LINES_MAX - 1))), { kind: 'head' });
  t.end();
});
