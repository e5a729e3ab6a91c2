/** Field sections of requests, sound and malformed (RFC 9113, 8.2 and 8.3). */

import t from 'tap';
import type { Field } from '../../../../packages/http2/src/hpack/field.ts';
import { RequestReader } from '../../../../packages/http2/src/message/request.ts';

type Pair = readonly [name: string, value: string];

const GOOD: readonly Pair[] = [
  [':method', 'POST'],
  [':scheme', 'https'],
  [':authority', 'a.example'],
  [':path', '/x'],
];

const section = (pairs: readonly Pair[]) => ({
  fields: pairs.map(([name, value]): Field => ({ name, value, indexing: 'incremental' })),
  isTooLarge: false,
});

const read = (pairs: readonly Pair[]) => new RequestReader().read(section(pairs));

t.test('a sound one', (t) => {
  t.match(read([...GOOD, ['te', 'trailers'], ['content-length', '12']]), {
    method: 'POST',
    scheme: 'https',
    authority: 'a.example',
    path: '/x',
    fields: [{ name: 'te' }, { name: 'content-length' }],
    contentLength: 12,
  });
  const [method, scheme, , path] = GOOD;
  if (method === undefined || scheme === undefined || path === undefined) throw new Error('GOOD');
  t.match(read([method, scheme, path, ['host', 'b.example']]), { authority: 'b.example' });
  t.match(read([method, scheme, path]), { authority: '', contentLength: -1 });
  t.end();
});

const MALFORMED: readonly (readonly [what: string, pairs: readonly Pair[]])[] = [
  ['no pseudo-fields', [['a', 'b']]],
  ['without :path', GOOD.slice(0, 3)],
  ['with an empty :path', [...GOOD.slice(0, 3), [':path', '']]],
  ['with :path twice', [...GOOD, [':path', '/y']]],
  ['with an unknown pseudo-field', [...GOOD, [':status', '200']]],
  ['with a pseudo-field behind others', [['a', 'b'], ...GOOD]],
  ['with an upper case name', [...GOOD, ['X-One', '1']]],
  ['with a space in a name', [...GOOD, ['x one', '1']]],
  ['with a line feed in a value', [...GOOD, ['x-one', 'a\nb']]],
  ['with a space at the end of a value', [...GOOD, ['x-one', 'a ']]],
  ['with connection', [...GOOD, ['connection', 'close']]],
  ['with transfer-encoding', [...GOOD, ['transfer-encoding', 'chunked']]],
  ['with te other than trailers', [...GOOD, ['te', 'gzip']]],
  ['with a content-length that is none', [...GOOD, ['content-length', '-1']]],
  [
    'with two different content-lengths',
    [...GOOD, ['content-length', '1'], ['content-length', '2']],
  ],
];

for (const [what, pairs] of MALFORMED) {
  t.test(`malformed: ${what}`, (t) => {
    t.type(read(pairs), 'string');
    t.end();
  });
}

t.test('a section that is too large', (t) => {
  t.type(new RequestReader().read({ fields: [], isTooLarge: true }), 'string');
  t.end();
});

t.test('a field that was sound once is looked at again when it is another one', (t) => {
  const reader = new RequestReader();
  const sound = section([...GOOD, ['x-one', '1']]);
  t.match(reader.read(sound), { path: '/x' });
  t.match(reader.read(sound), { path: '/x' });
  t.type(reader.read(section([...GOOD, ['x-one', '1\0']])), 'string');
  t.end();
});
