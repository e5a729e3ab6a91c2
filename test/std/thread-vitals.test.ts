import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { tellThreadVitals, VitalsWatch } from '../../src/std/thread-vitals.ts';

const STOPPED_MS = 600;

t.test('a stop of the event loop is seen, with its length', async (t) => {
  const watch = new VitalsWatch();
  t.teardown(() => watch.stop());
  await sleep(250);
  const untilMs = performance.now() + STOPPED_MS;
  while (performance.now() < untilMs);
  await sleep(50);
  const delay = watch.vitals?.eventLoopDelaySeconds ?? { bounds: [], counts: [], sum: 0 };
  const { bounds, counts, sum } = delay;
  const aboveQuarter = counts.filter((_, place) => (bounds[place - 1] ?? 0) >= 0.25);
  t.ok(
    aboveQuarter.some((count) => count > 0),
    `a delay above 0.25 s is counted: ${counts.join(' ')}`,
  );
  t.ok(sum >= (STOPPED_MS - 100) / 1_000, `${sum} s late in all`);
});

t.test('without a descriptor to read them with there are none, and nothing is thrown', (t) => {
  const watch = new VitalsWatch();
  t.teardown(() => watch.stop());
  const { memoryUsage } = process;
  t.teardown(() => {
    process.memoryUsage = memoryUsage;
  });
  process.memoryUsage = Object.assign(
    () => {
      throw Object.assign(new Error('EMFILE: too many open files, uv_resident_set_memory'), {
        code: 'EMFILE',
      });
    },
    { rss: memoryUsage.rss },
  );
  t.equal(watch.vitals, null);
  const told: unknown[] = [];
  tellThreadVitals((vitals) => told.push(vitals));
  t.same(told, []);
  process.memoryUsage = memoryUsage;
  t.ok((watch.vitals?.heapBytes ?? 0) > 0);
  t.end();
});
