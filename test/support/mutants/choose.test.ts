/** The choice depends on the seed alone. */

import t from 'tap';
import { choose } from './choose.ts';

const ITEMS = Array.from({ length: 1_000 }, (_, index) => index);

t.test('a seed chooses the same items each time', (t) => {
  t.strictSame(choose(ITEMS, 7, 5), [11, 62, 976, 698, 521]);
  t.strictNotSame(choose(ITEMS, 8, 5), choose(ITEMS, 7, 5));
  t.strictSame(choose(ITEMS, 7, 60).slice(0, 5), choose(ITEMS, 7, 5), 'more begin with the same');
  t.end();
});

t.test('each item is chosen once at most', (t) => {
  t.equal(new Set(choose(ITEMS, 7, 400)).size, 400);
  t.strictSame(
    [...choose(ITEMS, 7, 2_000)].sort((a, b) => a - b),
    ITEMS,
  );
  t.strictSame(choose([], 7, 3), []);
  t.end();
});
