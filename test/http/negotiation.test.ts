import t from 'tap';
import { preferredCoding, prefersJson } from '../../src/http/negotiation.ts';

t.test('JSON only for who likes it better than text', (t) => {
  for (const [accept, expected] of [
    ['', false],
    ['*/*', false],
    ['application/json', true],
    ['Application/JSON; charset=utf-8', true],
    ['application/*', true],
    ['text/plain, application/json, */*', false],
    ['application/json, text/plain, */*', false],
    ['application/json, */*;q=0.5', true],
    ['text/plain;q=0.5, application/json;q=0.9', true],
    ['text/plain;q=0.9, application/json;q=0.5', false],
    ['application/json;q=0, */*', false],
    ['text/*;q=0.1, application/json;q=0.2', true],
    ['text/html', false],
    ['application/json;q=nonsense', false],
  ] as const) {
    t.equal(prefersJson(accept), expected, accept);
  }
  t.end();
});

t.test('the coding that Accept-Encoding likes best; null: none of ours', (t) => {
  const cases: readonly (readonly [acceptEncoding: string, coding: string | null])[] = [
    ['', null],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['GZIP;q=1.0, br;q=0.5', 'gzip'],
    ['br;q=0, gzip;q=0', null],
    ['deflate, zstd', null],
    ['*', 'br'],
    ['*;q=0', null],
    ['br;q=0, *', 'gzip'],
    ['identity', null],
    ['identity, gzip;q=0.5', null],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    ['br;q=nonsense', null],
  ];
  for (const [acceptEncoding, coding] of cases) {
    t.equal(preferredCoding(acceptEncoding), coding, acceptEncoding);
  }
  t.end();
});
