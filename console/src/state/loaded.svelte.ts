/**
 * Something that a room shows and has to ask for. What was loaded stays while it is asked for
 * again, and when that fails.
 */

import { untrack } from 'svelte';
import type { Fault } from '../api/fault.ts';
import { faultOf, isAbort } from '../api/fault.ts';

export class Loaded<T> {
  /** Null: nothing was loaded yet. */
  value = $state.raw<T | null>(null);
  /** Why the last look failed; null: it did not. */
  fault = $state.raw<Fault | null>(null);
  readonly #read: (signal: AbortSignal) => Promise<T>;
  #under = new AbortController();
  #isUnderWay = false;

  constructor(read: (signal: AbortSignal) => Promise<T>) {
    this.#read = read;
  }

  /** Asks again; an answer to an earlier question is not waited for any more. */
  async again(): Promise<void> {
    this.stop();
    const under = new AbortController();
    this.#under = under;
    this.#isUnderWay = true;
    try {
      const value = await this.#read(under.signal);
      if (under.signal.aborted) return;
      this.value = value;
      this.fault = null;
    } catch (error) {
      if (under.signal.aborted || isAbort(error)) return;
      this.fault = faultOf(error);
    } finally {
      if (this.#under === under) this.#isUnderWay = false;
    }
  }

  /** Asks again, unless it waits for an answer: one that takes long would never be heard. */
  async refresh(): Promise<void> {
    if (!this.#isUnderWay) await this.again();
  }

  stop(): void {
    this.#under.abort();
  }
}

/**
 * Loads when the room opens, whenever what `read` looks at in its first step changes, and, with
 * `everyMs`, while the page is seen.
 */
export function loading<T>(read: (signal: AbortSignal) => Promise<T>, everyMs?: number): Loaded<T> {
  const loaded = new Loaded(read);
  $effect(() => {
    void loaded.again();
    const timer =
      everyMs === undefined
        ? undefined
        : setInterval(() => {
            if (!document.hidden) untrack(() => void loaded.refresh());
          }, everyMs);
    // Offline pages go on when they are back.
    const online = () => untrack(() => void loaded.again());
    addEventListener('online', online);
    return () => {
      clearInterval(timer);
      removeEventListener('online', online);
      loaded.stop();
    };
  });
  return loaded;
}
