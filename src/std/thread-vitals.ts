/**
 * What a thread says of its own memory and time. Each thread has a heap of its own, and before Node
 * 22 no thread can look into the heap of another, so each tells its numbers to whoever started it.
 */

import type { Worker } from 'node:worker_threads';

export interface ThreadVitals {
  /** Of the JavaScript heap, what is not collected yet included. */
  readonly heapUsedBytes: number;
  readonly heapBytes: number;
  /** Beside the heap: buffers, WebAssembly memory and code. */
  readonly externalBytes: number;
  readonly arrayBuffersBytes: number;
  /** How long the event loop has been at work since the thread's start. */
  readonly activeSeconds: number;
}

/** Often enough for a scraper, seldom enough to wake an idle thread for. */
const TELL_EVERY_MS = 5_000;

/** From Node 26 on `external` leaves the memory of WebAssembly out; before, it is in there. */
const EXTERNAL_HAS_WEB_ASSEMBLY = Number.parseInt(process.versions.node, 10) < 26;

/** Of the thread that asks, which says how much memory of WebAssembly it has. */
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
 * Tells those of this thread, with its WebAssembly memory, now and every few seconds. Does not keep
 * it alive.
 */
export function tellThreadVitals(
  tell: (vitals: ThreadVitals) => void,
  webAssemblyBytes: () => number = () => 0,
): void {
  const tellNow = (): void => tell(readThreadVitals(webAssemblyBytes()));
  tellNow();
  setInterval(tellNow, TELL_EVERY_MS).unref();
}

/** What a thread told last that tells nothing else from now on; null: nothing yet. */
export function hearThreadVitals(worker: Worker): () => ThreadVitals | null {
  let last: ThreadVitals | null = null;
  worker.on('message', (vitals: ThreadVitals) => {
    last = vitals;
  });
  return () => last;
}
