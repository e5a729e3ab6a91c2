import t from 'tap';
import { ResponseReader } from '../../../../packages/http2/src/message/response.ts';
import type { Pair } from '../hpack/blocks.ts';
import { field } from '../hpack/blocks.ts';

const read = (...pairs: readonly Pair[]) =>
  new ResponseReader().read({
    fields: pairs.map(([name, value]) => field(name, value)),
    isTooLarge: false,
  });

t.test('a status and fields', (t) => {
  const apnsId = field('apns-id', '5E3A', 'without');
  const status = field(':status', '410');
  t.same(new ResponseReader().read({ fields: [status, apnsId], isTooLarge: false }), {
    status: 410,
    fields: [apnsId],
    contentLength: -1,
  });
  for (const code of ['100', '103', '199', '200', '599', '999']) {
    t.match(read([':status', code]), { status: Number(code) });
  }
  t.end();
});

t.test('malformed', (t) => {
  const ok: Pair = [':status', '200'];
  const malformed: readonly (readonly Pair[])[] = [
    [],
    [['a', 'b']],
    [['a', 'b'], ok],
    [ok, ok],
    [ok, [':path', '/']],
    [ok, ['a', 'b'], [':x', '']],
    [[':method', 'GET']],
    ...['', '20', '2000', '099', '000', '2 0', '+20', '20x', '-20'].map((code): Pair[] => [
      [':status', code],
    ]),
    [[':status', '101']],
    [ok, ['Upper', 'x']],
    [ok, ['connection', 'close']],
    [ok, ['a', 'x\n']],
    [ok, ['content-length', 'x']],
    [ok, ['content-length', '1'], ['content-length', '2']],
  ];
  for (const pairs of malformed) t.type(read(...pairs), 'string', JSON.stringify(pairs));
  t.type(
    new ResponseReader().read({ fields: [field(':status', '200')], isTooLarge: true }),
    'string',
  );
  t.end();
});

t.test('content-length', (t) => {
  t.match(read([':status', '200'], ['content-length', '5']), { contentLength: 5 });
  const twice: Pair[] = [
    ['content-length', '5'],
    ['content-length', '5'],
  ];
  t.match(read([':status', '200'], ...twice), { contentLength: 5 });
  for (const status of ['204', '304']) {
    t.match(
      read([':status', status], ['content-length', '5']),
      { contentLength: -1 },
      'no content',
    );
  }
  t.end();
});
