/** The memory and time of a thread, as it reports them: before Node 22 no other sees its heap. */

import type { Worker } from 'node:worker_threads';
import type { HistogramReading } from './histogram.ts';
import { Histogram } from './histogram.ts';

export interface ThreadVitals {
  /** Bytes of the JavaScript heap, garbage that is not collected yet included. */
  readonly heapUsedBytes: number;
  readonly heapBytes: number;
  /** Beside the heap: buffers, WebAssembly memory and code. */
  readonly externalBytes: number;
  readonly arrayBuffersBytes: number;
  /** Time for which the event loop was at work since the thread's start. */
  readonly activeSeconds: number;
  /** How late the event loop was with timers since the thread's start. */
  readonly eventLoopDelaySeconds: HistogramReading;
}

/** Often enough for a scraper, seldom enough to wake an idle thread for. */
const TELL_EVERY_MS = 5_000;

/** From Node 26 on `external` leaves the memory of WebAssembly out; before, it is included. */
const EXTERNAL_HAS_WEB_ASSEMBLY = Number.parseInt(process.versions.node, 10) < 26;

/** Shows every longer stop of the event loop, and shorter ones by their share of the time. */
const PROBE_EVERY_MS = 100;
/** From the unrest of any timer to stops that cost a node its leases. */
const DELAY_BOUNDS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Watches the thread that makes it. Does not keep the thread alive. */
export class VitalsWatch {
  readonly #webAssemblyBytes: () => number;
  readonly #delaySeconds = new Histogram(DELAY_BOUNDS_SECONDS);
  readonly #prober: NodeJS.Timeout;
  #probedAtMs = performance.now();

  /** `webAssemblyBytes`: the size of the thread's WebAssembly memory. */
  constructor(webAssemblyBytes: () => number = () => 0) {
    this.#webAssemblyBytes = webAssemblyBytes;
    this.#prober = setInterval(() => this.#probe(), PROBE_EVERY_MS).unref();
  }

  /** Null: they cannot be read now. */
  get vitals(): ThreadVitals | null {
    const usage = readMemoryUsage();
    if (usage === null) return null;
    const { heapUsed, heapTotal, external, arrayBuffers } = usage;
    return {
      heapUsedBytes: heapUsed,
      heapBytes: heapTotal,
      externalBytes: EXTERNAL_HAS_WEB_ASSEMBLY ? external : external + this.#webAssemblyBytes(),
      arrayBuffersBytes: arrayBuffers,
      activeSeconds: performance.eventLoopUtilization().active / 1_000,
      eventLoopDelaySeconds: this.#delaySeconds.reading,
    };
  }

  stop(): void {
    clearInterval(this.#prober);
  }

  #probe(): void {
    const nowMs = performance.now();
    const lateMs = Math.max(0, nowMs - this.#probedAtMs - PROBE_EVERY_MS);
    this.#delaySeconds.observe(lateMs / 1_000);
    this.#probedAtMs = nowMs;
  }
}

/** Null: no file descriptor is left, and Node.js opens a file of the system for this. */
function readMemoryUsage(): NodeJS.MemoryUsage | null {
  try {
    return process.memoryUsage();
  } catch {
    return null;
  }
}

/** Reports this thread's vitals, now and every few seconds. Does not keep the thread alive. */
export function tellThreadVitals(
  tell: (vitals: ThreadVitals) => void,
  webAssemblyBytes?: () => number,
): void {
  const watch = new VitalsWatch(webAssemblyBytes);
  const tellNow = (): void => {
    const { vitals } = watch;
    if (vitals !== null) tell(vitals);
  };
  tellNow();
  setInterval(tellNow, TELL_EVERY_MS).unref();
}

/** The latest vitals of a thread whose messages they are from now on; null: none yet. */
export function hearThreadVitals(worker: Worker): () => ThreadVitals | null {
  let last: ThreadVitals | null = null;
  worker.on('message', (vitals: ThreadVitals) => {
    last = vitals;
  });
  return () => last;
}
