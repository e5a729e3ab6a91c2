/** Metrics of each thread's memory and time: those of Node.js itself show the main thread only. */

import type { Registry } from 'prom-client';
import type { ThreadVitals } from '../std/thread-vitals.ts';
import type { Series } from './read-metrics.ts';
import { readCounter, readGauge, readHistogram } from './read-metrics.ts';

/** The vitals that a thread has reported. */
export interface ThreadReading extends ThreadVitals {
  /** Its name: `main`, `database`, `simulator`, `worker-1`. */
  readonly thread: string;
}

/** Calls `read` whenever the metrics are read. */
export function registerThreadMetrics(
  registry: Registry,
  read: () => readonly ThreadReading[],
): void {
  const ofThreads =
    <Value>(valueIn: (reading: ThreadReading) => Value) =>
    (): readonly Series<Value>[] =>
      read().map((reading) => [{ thread: reading.thread }, valueIn(reading)]);
  const gauge = (name: string, help: string, valueIn: (reading: ThreadReading) => number): void =>
    readGauge(registry, { name, help, labelNames: ['thread'] }, ofThreads(valueIn));
  gauge(
    'tagcast_thread_heap_used_bytes',
    "Used part of the thread's JavaScript heap, uncollected garbage included. A lowest point that rises for hours is a leak. Each thread reports this and the next five every 5 s.",
    ({ heapUsedBytes }) => heapUsedBytes,
  );
  gauge('tagcast_thread_heap_bytes', "The thread's JavaScript heap.", ({ heapBytes }) => heapBytes);
  gauge(
    'tagcast_thread_external_bytes',
    'Memory of the thread outside its heap: buffers, WebAssembly memory and code.',
    ({ externalBytes }) => externalBytes,
  );
  gauge(
    'tagcast_thread_array_buffers_bytes',
    "Part of the thread's external memory that is buffers.",
    ({ arrayBuffersBytes }) => arrayBuffersBytes,
  );
  readCounter(
    registry,
    {
      name: 'tagcast_thread_active_seconds_total',
      help: "Time for which the thread's event loop was active. A rate near 1 is a thread that has no time left.",
      labelNames: ['thread'],
    },
    ofThreads(({ activeSeconds }) => activeSeconds),
  );
  readHistogram(
    registry,
    {
      name: 'tagcast_thread_event_loop_delay_seconds',
      help: 'How late the event loop of the thread is with a timer, ten times a second.',
      labelNames: ['thread'],
    },
    ofThreads(({ eventLoopDelaySeconds }) => eventLoopDelaySeconds),
  );
}
