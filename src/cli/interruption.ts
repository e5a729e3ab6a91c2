/** Work that Ctrl-C ends in order. */

import type { EventEmitter } from 'node:events';

export type Signals = Pick<EventEmitter, 'once' | 'off'>;

/** 128 and SIGINT's number, as in shells. */
export const EXIT_INTERRUPTED = 130;

const ENDING = ['SIGINT', 'SIGTERM'] as const;

/** A first signal ends the work in order; a second one ends the process. */
export async function interruptible<T>(
  signals: Signals,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort();
  for (const signal of ENDING) signals.once(signal, interrupt);
  try {
    return await work(interrupted.signal);
  } finally {
    for (const signal of ENDING) signals.off(signal, interrupt);
  }
}
