/** The share of the free part that one may hold. */

import t from 'tap';
import { shareOf } from '../../src/std/share.ts';

/** The rest when so many come one after the other, and each takes and keeps its whole share. */
function leftAfter(takers: number, max: number): number {
  let free = max;
  for (let taker = 0; taker < takers; taker += 1) {
    for (let held = 0; held < shareOf(free, max); held += 1) free -= 1;
  }
  return free;
}

t.test('those who take all they may leave something for the next one', (t) => {
  const max = 20_000;
  t.equal(max - leftAfter(1, max), 7_640, 'one alone');
  t.ok(leftAfter(50, max) > max / 60, 'fifty leave some fiftieth');
  t.ok(leftAfter(100, max) > max / 120, 'a hundred some hundredth');
  t.equal(leftAfter(1_000, max), 0, 'it has an end');
  t.end();
});

t.test('where there is little, each gets one of the last', (t) => {
  t.same(
    [1, 2, 3, 4, 5].map((takers) => leftAfter(takers, 8)),
    [4, 2, 1, 0, 0],
  );
  t.end();
});
