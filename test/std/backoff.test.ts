import fc from 'fast-check';
import t from 'tap';
import { backoffMs, withJitter } from '../../src/std/backoff.ts';

const POLICY = { baseMs: 100, capMs: 1_000 };
const never = (): number => 0;

t.test('each failure doubles the wait, up to the cap', (t) => {
  const waits = [1, 2, 3, 4, 5, 6, 5_000].map((attempt) => backoffMs(POLICY, attempt, never));
  t.strictSame(waits, [100, 200, 400, 800, 1_000, 1_000, 1_000]);
  t.equal(backoffMs(POLICY, 0, never), 100, 'no failure yet waits as after the first');
  t.end();
});

t.test('up to half is added by chance, and nothing is taken away', (t) => {
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), random, (attempt, chance) => {
      const least = backoffMs(POLICY, attempt, never);
      const waitMs = backoffMs(POLICY, attempt, () => chance);
      if (waitMs < least || waitMs > least * 1.5) throw new Error(`${waitMs} for ${least}`);
    }),
  );
  t.equal(
    withJitter(1_000, () => 0.5),
    1_250,
  );
  const spread = new Set(Array.from({ length: 20 }, () => withJitter(1_000_000)));
  t.ok(spread.size > 1, 'not the same for everybody');
  t.end();
});
