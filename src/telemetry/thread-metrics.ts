/** Metrics of each thread's memory and time: those of Node.js itself show the main thread only. */

import type { Registry } from 'prom-client';
import { Counter, Gauge } from 'prom-client';
import type { ThreadVitals } from '../std/thread-vitals.ts';

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
  const gauge = (name: string, help: string, valueIn: (reading: ThreadReading) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ['thread'],
      registers: [registry],
      collect() {
        this.reset();
        for (const reading of read()) this.set({ thread: reading.thread }, valueIn(reading));
      },
    });
  };
  gauge(
    'tagcast_thread_heap_used_bytes',
    "Used part of the thread's JavaScript heap, uncollected garbage included.",
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
  new Counter({
    name: 'tagcast_thread_active_seconds_total',
    help: "Time for which the thread's event loop has been active.",
    labelNames: ['thread'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { thread, activeSeconds } of read()) this.inc({ thread }, activeSeconds);
    },
  });
}
