/**
 * A provider that is down: connections closed at first, then 503 to every push, then all is as
 * before.
 */

import type { LiveBehaviour } from '../options.ts';
import type { Outage } from './behaviour.ts';

export class OutageClock {
  readonly #live: LiveBehaviour;
  readonly #onClosed: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** `onClosed`: open connections are to be closed; new ones see it in `live`. */
  constructor(live: LiveBehaviour, onClosed: () => void) {
    this.#live = live;
    this.#onClosed = onClosed;
  }

  /** Begins anew with this outage; with none, one that is under way is over. */
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
