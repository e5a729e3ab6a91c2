/** Metrics of each thread's memory and time: those of Node.js itself show the main thread only. */

import type { ThreadVitals } from '../std/thread-vitals.ts';
import type { Metric, Series } from './metric.ts';

/** The vitals that a thread has reported; null: none yet, or there is no such thread. */
export interface ThreadReading {
  readonly thread: string;
  readonly vitals: ThreadVitals | null;
}

export function threadMetrics(read: () => readonly ThreadReading[]): readonly Metric[] {
  const labels = ['thread'];
  const seriesOf = <Value>(valueIn: (vitals: ThreadVitals) => Value): readonly Series<Value>[] =>
    read().flatMap(({ thread, vitals }) =>
      vitals === null ? [] : [[{ thread }, valueIn(vitals)] as const],
    );
  const gauge = (
    name: string,
    help: string,
    valueIn: (vitals: ThreadVitals) => number,
  ): Metric => ({
    type: 'gauge',
    name,
    help,
    labels,
    read: () => seriesOf(valueIn),
  });
  return [
    gauge(
      'tagcast_thread_heap_used_bytes',
      "Used part of the thread's JavaScript heap, uncollected garbage included. A lowest point that rises for hours is a leak. Each thread reports this and the next five every 5 s.",
      ({ heapUsedBytes }) => heapUsedBytes,
    ),
    gauge(
      'tagcast_thread_heap_bytes',
      "The thread's JavaScript heap.",
      ({ heapBytes }) => heapBytes,
    ),
    gauge(
      'tagcast_thread_external_bytes',
      'Memory of the thread outside its heap: buffers, WebAssembly memory and code.',
      ({ externalBytes }) => externalBytes,
    ),
    gauge(
      'tagcast_thread_array_buffers_bytes',
      "Part of the thread's external memory that is buffers.",
      ({ arrayBuffersBytes }) => arrayBuffersBytes,
    ),
    {
      type: 'counter',
      name: 'tagcast_thread_active_seconds_total',
      help: "Time for which the thread's event loop was active. A rate near 1 is a thread that has no time left.",
      labels,
      read: () => seriesOf(({ activeSeconds }) => activeSeconds),
    },
    {
      type: 'histogram',
      name: 'tagcast_thread_event_loop_delay_seconds',
      help: 'How late the event loop of the thread is with a timer, ten times a second.',
      labels,
      read: () => seriesOf(({ eventLoopDelaySeconds }) => eventLoopDelaySeconds),
    },
  ];
}
