import t from 'tap';
import type { ThreadVitals } from '../../src/std/thread-vitals.ts';
import { Metrics } from '../../src/telemetry/metrics.ts';
import type { ThreadReading } from '../../src/telemetry/thread-metrics.ts';
import { threadMetrics } from '../../src/telemetry/thread-metrics.ts';

const VITALS: ThreadVitals = {
  heapUsedBytes: 1,
  heapBytes: 2,
  externalBytes: 3,
  arrayBuffersBytes: 4,
  activeSeconds: 5.5,
  eventLoopDelaySeconds: { bounds: [0.1, 1], counts: [3, 0, 1], sum: 2.25 },
};

t.test('each thread that is there has its series, and one that has gone has none', async (t) => {
  const metrics = new Metrics();
  const main = { thread: 'main', vitals: VITALS };
  const worker = { thread: 'worker-1', vitals: { ...VITALS, heapUsedBytes: 7 } };
  let readings: readonly ThreadReading[] = [main, worker];
  metrics.add(threadMetrics(() => readings));
  const first = await metrics.text();
  t.match(first, /^tagcast_thread_heap_used_bytes\{thread="main"\} 1$/m);
  t.match(first, /^tagcast_thread_heap_used_bytes\{thread="worker-1"\} 7$/m);
  t.match(first, /^tagcast_thread_heap_bytes\{thread="main"\} 2$/m);
  t.match(first, /^tagcast_thread_external_bytes\{thread="main"\} 3$/m);
  t.match(first, /^tagcast_thread_array_buffers_bytes\{thread="main"\} 4$/m);
  t.match(first, /^tagcast_thread_active_seconds_total\{thread="main"\} 5.5$/m);
  t.match(
    first,
    [
      'tagcast_thread_event_loop_delay_seconds_bucket{thread="main",le="0.1"} 3',
      'tagcast_thread_event_loop_delay_seconds_bucket{thread="main",le="1"} 3',
      'tagcast_thread_event_loop_delay_seconds_bucket{thread="main",le="+Inf"} 4',
      'tagcast_thread_event_loop_delay_seconds_sum{thread="main"} 2.25',
      'tagcast_thread_event_loop_delay_seconds_count{thread="main"} 4',
    ].join('\n'),
  );
  readings = [main, { thread: 'worker-1', vitals: null }];
  const second = await metrics.text();
  t.notMatch(second, 'worker-1');
  t.match(second, /^tagcast_thread_active_seconds_total\{thread="main"\} 5.5$/m, 'not added up');
});

t.test('a family that cannot be read is left out, and named', async (t) => {
  const unread: unknown[] = [];
  const metrics = new Metrics((error, name) => unread.push([name, String(error)]));
  metrics.add([{ type: 'gauge', name: 'depth', help: 'Depth.', read: () => [[{}, 7]] }]);
  metrics.add(
    threadMetrics(() => {
      throw new Error('EMFILE');
    }),
  );
  const text = await metrics.text();
  t.match(text, /^depth 7$/m);
  t.match(text, /^process_cpu_seconds_total /m);
  t.notMatch(text, 'tagcast_thread_');
  t.match(unread[0], ['tagcast_thread_heap_used_bytes', 'Error: EMFILE']);
  t.notMatch(text, /\n\n\n/);
});
