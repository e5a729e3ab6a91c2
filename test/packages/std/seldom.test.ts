import t from 'tap';
import { Seldom } from '../../../packages/std/src/seldom.ts';

t.test('told at once, and then with how often it was, once in the interval', (t) => {
  let nowMs = 0;
  const seldom = new Seldom(1_000, () => nowMs);
  t.equal(seldom.count(), 1);
  t.equal(seldom.count(), null);
  nowMs = 999;
  t.equal(seldom.count(), null);
  nowMs = 1_000;
  t.equal(seldom.count(), 3);
  nowMs = 5_000;
  t.equal(seldom.count(), 1);
  t.end();
});
