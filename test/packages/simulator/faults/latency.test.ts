/** How drawn latencies spread, and that they can be drawn again. */

import t from 'tap';
import {
  KIND_BEHAVIOUR,
  mergeBehaviour,
} from '../../../../packages/simulator/src/faults/behaviour.ts';
import { answerDelay } from '../../../../packages/simulator/src/faults/latency.ts';

const SPREAD = { p50Ms: 60, p99Ms: 400, maxMs: 1_000 };
const REQUESTS = 20_000;

function drawn(seed: number, connectionNumber: number): readonly number[] {
  const behaviour = mergeBehaviour(KIND_BEHAVIOUR, { latencySpread: SPREAD, latencyMs: 7, seed });
  const delayOf = answerDelay(behaviour, connectionNumber);
  if (delayOf === null) throw new Error('there is a spread');
  return Array.from({ length: REQUESTS }, (_, index) => delayOf(2 * index + 1) - 7);
}

t.test('the percentiles come out', (t) => {
  const sorted = [...drawn(1, 1)].sort((one, other) => one - other);
  const at = (share: number) => sorted[Math.floor(share * REQUESTS)] ?? 0;
  // Four standard deviations of the 99th percentile of so many: about a tenth of it.
  t.ok(Math.abs(at(0.5) - SPREAD.p50Ms) <= 4, `p50 ${at(0.5)}`);
  t.ok(Math.abs(at(0.99) - SPREAD.p99Ms) <= 40, `p99 ${at(0.99)}`);
  t.equal(sorted.at(-1), SPREAD.maxMs, 'cut at the largest');
  t.ok(sorted.every((ms) => Number.isInteger(ms) && ms >= 0));
  t.end();
});

t.test('the same seed and connection draw the same', (t) => {
  const first = (seed: number, connection: number) => drawn(seed, connection).slice(0, 20);
  t.same(first(1, 1), first(1, 1));
  t.notSame(first(1, 1), first(1, 2));
  t.notSame(first(1, 1), first(2, 1));
  t.end();
});

t.test('none, or the same for all', (t) => {
  t.equal(answerDelay(KIND_BEHAVIOUR, 1), null);
  t.equal(answerDelay(mergeBehaviour(KIND_BEHAVIOUR, { latencyMs: 5 }), 1)?.(1), 5);
  t.end();
});
