import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { VitalsWatch } from '../../src/std/thread-vitals.ts';

const STOPPED_MS = 600;

t.test('a stop of the event loop is seen, with its length', async (t) => {
  const watch = new VitalsWatch();
  t.teardown(() => watch.stop());
  await sleep(250);
  const untilMs = performance.now() + STOPPED_MS;
  while (performance.now() < untilMs);
  await sleep(50);
  const { bounds, counts, sum } = watch.vitals.eventLoopDelaySeconds;
  const aboveQuarter = counts.filter((_, place) => (bounds[place - 1] ?? 0) >= 0.25);
  t.ok(
    aboveQuarter.some((count) => count > 0),
    `a delay above 0.25 s is counted: ${counts.join(' ')}`,
  );
  t.ok(sum >= (STOPPED_MS - 100) / 1_000, `${sum} s late in all`);
});
