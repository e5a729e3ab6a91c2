/**
 * A provider that is down: first connections are closed, then every push gets 503, then it works as
 * before.
 */

import type { LiveBehaviour } from '../options.ts';
import type { Outage } from './behaviour.ts';

export class OutageClock {
  readonly #live: LiveBehaviour;
  readonly #onClosed: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** `onClosed` must close open connections; new ones see the outage in `live`. */
  constructor(live: LiveBehaviour, onClosed: () => void) {
    this.#live = live;
    this.#onClosed = onClosed;
  }

  /** Starts this outage from its beginning; null only ends the present one. */
  start(outage: Outage | null): void {
    clearTimeout(this.#timer);
    this.#enter('none');
    if (outage === null) return;
    const { afterMs, closedMs, unavailableMs } = outage;
    this.#later(afterMs, () => {
      this.#enter('closed');
      this.#later(closedMs, () => {
        this.#enter('unavailable');
        this.#later(unavailableMs, () => this.#enter('none'));
      });
    });
  }

  #enter(phase: LiveBehaviour['outage']): void {
    this.#live.outage = phase;
    if (phase === 'closed') this.#onClosed();
  }

  #later(afterMs: number, step: () => void): void {
    this.#timer = setTimeout(step, afterMs).unref();
  }
}
