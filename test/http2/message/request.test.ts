import t from 'tap';
import { RequestReader } from '../../../src/http2/message/request.ts';
import type { Pair } from '../hpack/blocks.ts';
import { field } from '../hpack/blocks.ts';

const read = (...pairs: readonly Pair[]) =>
  new RequestReader().read({
    fields: pairs.map(([name, value]) => field(name, value)),
    isTooLarge: false,
  });

const GET: readonly Pair[] = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', '/'],
];

t.test('the pseudo-fields in any order, then the fields', (t) => {
  const a = field('a', 'b');
  const pseudo = [[':authority', 'push.test'], ...GET].map(([name, value]) =>
    field(name ?? '', value ?? ''),
  );
  t.same(new RequestReader().read({ fields: [...pseudo, a], isTooLarge: false }), {
    method: 'GET',
    scheme: 'https',
    path: '/',
    authority: 'push.test',
    fields: [a],
    contentLength: -1,
  });
  t.match(read(...GET, ['host', 'h.test'], ['content-length', '3']), {
    authority: 'h.test',
    contentLength: 3,
  });
  t.match(read(...GET), { authority: '' });
  t.end();
});

t.test('malformed', (t) => {
  const malformed: readonly (readonly Pair[])[] = [
    [],
    ...GET.map((_, i) => GET.filter((_, j) => j !== i)),
    [...GET, [':path', '/']],
    [...GET, [':status', '200']],
    [...GET, ['a', 'b'], [':authority', 'x']],
    [...GET.slice(0, 2), [':path', '']],
    [...GET, ['Upper', 'x']],
    [...GET, ['te', 'gzip']],
    [...GET, ['content-length', '1'], ['content-length', '2']],
  ];
  for (const pairs of malformed) t.type(read(...pairs), 'string', JSON.stringify(pairs));
  t.type(new RequestReader().read({ fields: [], isTooLarge: true }), 'string');
  t.end();
});

t.test('a field that was found sound stays so; one that was not is looked at again', (t) => {
  const reader = new RequestReader();
  const pseudo = GET.map(([name, value]) => field(name, value));
  const sound = field('a', 'b');
  const bad = field('A', 'b');
  for (let i = 0; i < 2; i += 1) {
    t.match(reader.read({ fields: [...pseudo, sound], isTooLarge: false }), { fields: [sound] });
    t.type(reader.read({ fields: [...pseudo, bad], isTooLarge: false }), 'string');
    const length = field('content-length', '5');
    t.match(reader.read({ fields: [...pseudo, length], isTooLarge: false }), { contentLength: 5 });
  }
  t.end();
});
