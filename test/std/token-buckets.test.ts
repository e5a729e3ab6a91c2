import t from 'tap';
import { TokenBuckets } from '../../src/std/token-buckets.ts';

const takes = (buckets: TokenBuckets, key: string, count: number, nowMs: number): number =>
  Array.from({ length: count }, () => buckets.take(key, nowMs)).filter(Boolean).length;

t.test('gives a second worth at once, then the rate', (t) => {
  const buckets = new TokenBuckets({ perSecond: 10, bucketsMax: 100 });
  t.equal(takes(buckets, 'a', 20, 0), 10);
  t.equal(takes(buckets, 'a', 20, 500), 5);
  t.equal(takes(buckets, 'a', 20, 60_000), 10, 'never more than a second worth');
  t.end();
});

t.test('keys do not share tokens', (t) => {
  const buckets = new TokenBuckets({ perSecond: 1, bucketsMax: 100 });
  t.equal(takes(buckets, 'a', 5, 0), 1);
  t.equal(takes(buckets, 'b', 5, 0), 1);
  t.end();
});

t.test('remembers whoever comes often, however many others come', (t) => {
  const buckets = new TokenBuckets({ perSecond: 1, bucketsMax: 10 });
  takes(buckets, 'often', 1, 0);
  for (let other = 0; other < 1_000; other += 1) {
    takes(buckets, `other ${other}`, 1, 0);
    t.equal(buckets.take('often', 0), false);
  }
  t.end();
});
