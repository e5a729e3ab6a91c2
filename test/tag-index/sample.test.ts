import t from 'tap';
import { projected, sampleOf } from '../../src/tag-index/sample.ts';

t.test('some of many, evenly apart', (t) => {
  const all = [...Array(1_221).keys()];
  const sample = sampleOf(all, 16);
  t.equal(new Set(sample).size, 16);
  const apart = sample.slice(1).map((place, at) => place - (sample[at] ?? 0));
  t.ok(Math.min(...apart) >= 76 && Math.max(...apart) <= 77);
  t.ok((sample[0] ?? 0) > 30 && (sample.at(-1) ?? 0) < 1_190, 'neither end is preferred');
  t.strictSame(sampleOf([1, 2, 3], 3), [1, 2, 3]);
  t.strictSame(sampleOf([1, 2, 3], Number.POSITIVE_INFINITY), [1, 2, 3]);
  t.strictSame(sampleOf([], 16), []);
  t.end();
});

t.test('what was found is told of all', (t) => {
  t.same(projected(160, 16, 1_221), { count: 12_210, isProjected: true });
  t.same(projected(7, 3, 3), { count: 7, isProjected: false });
  t.same(projected(0, 0, 0), { count: 0, isProjected: false });
  t.end();
});
