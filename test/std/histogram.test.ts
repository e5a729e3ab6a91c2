import t from 'tap';
import { Histogram } from '../../src/std/histogram.ts';

const BOUNDS = [1, 10];

t.test('a value counts up to its bound, and above all bounds in the last place', (t) => {
  const histogram = new Histogram(BOUNDS);
  for (const value of [0, 1, 1.5, 10, 11, 1_000]) histogram.observe(value);
  t.same(histogram.reading, { bounds: BOUNDS, counts: [2, 2, 2], sum: 1_023.5 });
  t.end();
});

t.test('what is taken is gone, and can be added to another one', (t) => {
  const histogram = new Histogram(BOUNDS);
  const total = new Histogram(BOUNDS);
  total.observe(2);
  histogram.observe(5);
  const taken = histogram.take();
  histogram.observe(20);
  t.same(taken, { bounds: BOUNDS, counts: [0, 1, 0], sum: 5 }, 'it does not change any more');
  total.add(taken);
  total.add(histogram.take());
  t.same(total.reading, { bounds: BOUNDS, counts: [0, 2, 1], sum: 27 });
  t.same(histogram.reading, { bounds: BOUNDS, counts: [0, 0, 0], sum: 0 });
  t.end();
});
