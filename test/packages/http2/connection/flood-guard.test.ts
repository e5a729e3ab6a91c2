import t from 'tap';
import { FloodGuard } from '../../../../packages/http2/src/connection/flood-guard.ts';

const CALM = { name: 'ConnectionError', code: 11 };

/** A clock that stands still until the test moves it. */
function stoppedClock(t: { teardown(restore: () => void): void }) {
  const { now } = performance;
  const clock = { nowMs: 1_000 };
  performance.now = () => clock.nowMs;
  t.teardown(() => {
    performance.now = now;
  });
  return clock;
}

const spend = (guard: FloodGuard, times: number): void => {
  for (let i = 0; i < times; i += 1) guard.spend();
};

t.test('a thousand without any work, not one more', (t) => {
  stoppedClock(t);
  const guard = new FloodGuard();
  spend(guard, 1_000);
  t.throws(() => guard.spend(), CALM);
  t.throws(() => guard.spend(), CALM, 'nor later');
  t.end();
});

t.test('four more for each request', (t) => {
  stoppedClock(t);
  const guard = new FloodGuard();
  for (let i = 0; i < 10; i += 1) guard.earn();
  spend(guard, 1_040);
  t.throws(() => guard.spend(), CALM);
  t.end();
});

t.test('what is saved has an end', (t) => {
  stoppedClock(t);
  const guard = new FloodGuard();
  for (let i = 0; i < 1_000_000; i += 1) guard.earn();
  spend(guard, 100_000);
  t.throws(() => spend(guard, 5), CALM);
  t.end();
});

t.test('a new period begins with the first frame too many, not before', (t) => {
  const clock = stoppedClock(t);
  const guard = new FloodGuard();
  clock.nowMs += 9_999;
  spend(guard, 1_000);
  t.throws(() => guard.spend(), CALM, 'too soon');
  clock.nowMs += 1;
  spend(guard, 1_001);
  t.throws(() => guard.spend(), CALM, 'as many again');
  clock.nowMs += 10_000;
  guard.spend();
  t.end();
});
