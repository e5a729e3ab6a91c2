import t from 'tap';
import { requestIdOf } from '../../src/http/request-id.ts';

t.test("a usable id is the caller's own", (t) => {
  t.equal(requestIdOf('order 17'), 'order 17');
  t.equal(requestIdOf('x'.repeat(128)), 'x'.repeat(128));
  t.end();
});

t.test('a new one is 128 random bits', (t) => {
  const unusable = ['', 'two\nlines', 'ümlaut', 'x'.repeat(129)];
  const ids = Array.from({ length: 1_000 }, (_, at) => requestIdOf(unusable[at % 4] ?? ''));
  t.ok(ids.every((id) => /^[0-9a-f]{32}$/.test(id)));
  t.equal(new Set(ids).size, ids.length);
  // No part of it stays the same.
  for (const part of [0, 8, 16, 24]) {
    t.ok(new Set(ids.map((id) => id.slice(part, part + 8))).size > 990);
  }
  t.end();
});
