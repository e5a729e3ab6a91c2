/**
 * Interrupts this thread's script when the process has used a given processor time: a thread beside
 * it sends a signal that `vm` ends a script for. Wall time would say more of the machine.
 */

import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

const ENTRY = fileURLToPath(new URL('./processor-time-entry.js', import.meta.url));

/** Processor time of the process in milliseconds, all of its threads. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

export class ProcessorTime {
  /** The processor time at which to interrupt; 0: none. */
  readonly #endMs = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

  constructor() {
    // A signal that comes too late has no script to stop: it has ended.
    process.on('SIGINT', () => undefined);
    new Worker(ENTRY, { workerData: this.#endMs }).unref();
  }

  /** Runs a script with `breakOnSigint`, which is interrupted at that time. */
  until<T>(endMs: number, run: () => T): T {
    this.#set(Math.max(1, Math.ceil(endMs)));
    try {
      return run();
    } finally {
      this.#set(0);
    }
  }

  #set(endMs: number): void {
    Atomics.store(this.#endMs, 0, endMs);
    Atomics.notify(this.#endMs, 0);
  }
}
