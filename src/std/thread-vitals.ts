/**
 * The memory and time of a thread, as it reports them. Each thread has a heap of its own, and
 * before Node 22 no thread can look into the heap of another, so each sends its numbers to the
 * thread that started it.
 */

import type { Worker } from 'node:worker_threads';

export interface ThreadVitals {
  /** Of the JavaScript heap, garbage that is not collected yet included. */
  readonly heapUsedBytes: number;
  readonly heapBytes: number;
  /** Beside the heap: buffers, WebAssembly memory and code. */
  readonly externalBytes: number;
  readonly arrayBuffersBytes: number;
  /** Time for which the event loop was at work since the thread's start. */
  readonly activeSeconds: number;
}

/** Often enough for a scraper, seldom enough to wake an idle thread for. */
const TELL_EVERY_MS = 5_000;

/** From Node 26 on `external` leaves the memory of WebAssembly out; before, it is included. */
const EXTERNAL_HAS_WEB_ASSEMBLY = Number.parseInt(process.versions.node, 10) < 26;

/** The vitals of the calling thread, which passes the size of its WebAssembly memory. */
export function readThreadVitals(webAssemblyBytes = 0): ThreadVitals {
  const { heapUsed, heapTotal, external, arrayBuffers } = process.memoryUsage();
  return {
    heapUsedBytes: heapUsed,
    heapBytes: heapTotal,
    externalBytes: EXTERNAL_HAS_WEB_ASSEMBLY ? external : external + webAssemblyBytes,
    arrayBuffersBytes: arrayBuffers,
    activeSeconds: performance.eventLoopUtilization().active / 1_000,
  };
}

/**
 * Reports the vitals of this thread, with its WebAssembly memory, now and every few seconds. Does
 * not keep the thread alive.
 */
export function tellThreadVitals(
  tell: (vitals: ThreadVitals) => void,
  webAssemblyBytes: () => number = () => 0,
): void {
  const tellNow = (): void => tell(readThreadVitals(webAssemblyBytes()));
  tellNow();
  setInterval(tellNow, TELL_EVERY_MS).unref();
}

/** The latest vitals of a thread that sends no other messages from now on; null: none yet. */
export function hearThreadVitals(worker: Worker): () => ThreadVitals | null {
  let last: ThreadVitals | null = null;
  worker.on('message', (vitals: ThreadVitals) => {
    last = vitals;
  });
  return () => last;
}
