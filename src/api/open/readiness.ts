/** Whether this node can serve, for balancers: one check at a time, whose result all share. */

import type { Logger } from 'pino';
import type { StoreReading, StoreState } from '../../database/write-probe.ts';
import type { Clock } from '../../std/clock.ts';

export interface ReadinessParts {
  /** Answers in time, and never rejects (`WriteProbe.ask`). */
  readonly askStore: () => Promise<StoreReading>;
  /** Whether Redis answers; null: there is none. */
  readonly isIndexReachable: (() => boolean) | null;
  readonly isDraining: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

interface ReadinessAnswer {
  readonly isReady: boolean;
  readonly body: {
    readonly status: 'ok' | 'draining' | 'unavailable';
    /** Redis may be unavailable: sends continue from the database. */
    readonly stores: { readonly postgres: StoreState; readonly redis?: 'ok' | 'unavailable' };
  };
}

/**
 * Balancers ask every few seconds.
 * @limit an answer of `/readyz` is shared; one check runs at a time → the database is asked again
 */
const SHARED_MS = 500;
/** @limit callers of `/readyz` that wait for one check → they get the previous result */
const WAITING_MAX = 1_000;

export class Readiness {
  readonly #parts: ReadinessParts;
  #looking: Promise<StoreState> | null = null;
  #waiting = 0;
  #state: StoreState = 'unavailable';
  #seenAtMs = Number.NEGATIVE_INFINITY;
  /** The state that was logged last. A node has written to its database just before it starts. */
  #told: StoreState = 'ok';

  constructor(parts: ReadinessParts) {
    this.#parts = parts;
  }

  async ask(): Promise<ReadinessAnswer> {
    const { isIndexReachable, isDraining } = this.#parts;
    const postgres = await this.#storeState();
    const draining = isDraining();
    const isReady = postgres === 'ok' && !draining;
    const fault = draining ? 'draining' : 'unavailable';
    const redis = isIndexReachable?.() === true ? 'ok' : 'unavailable';
    return {
      isReady,
      body: {
        status: isReady ? 'ok' : fault,
        stores: isIndexReachable === null ? { postgres } : { postgres, redis },
      },
    };
  }

  async #storeState(): Promise<StoreState> {
    const isFresh = this.#parts.clock.monotonicMs() - this.#seenAtMs < SHARED_MS;
    if (isFresh || this.#waiting >= WAITING_MAX) return this.#state;
    this.#looking ??= this.#look();
    this.#waiting += 1;
    try {
      return await this.#looking;
    } finally {
      this.#waiting -= 1;
    }
  }

  async #look(): Promise<StoreState> {
    const { state, reason } = await this.#parts.askStore();
    this.#looking = null;
    this.#state = state;
    this.#seenAtMs = this.#parts.clock.monotonicMs();
    if (state !== this.#told) this.#tell(state, reason);
    return state;
  }

  #tell(state: StoreState, reason: string | null): void {
    const { log } = this.#parts;
    this.#told = state;
    switch (state) {
      case 'ok':
        log.info('the database takes writes again: the node is ready');
        return;
      case 'cannot write':
        log.error({ reason }, 'the database takes no writes: the node is not ready');
        return;
      case 'too new':
        log.error({ reason }, 'a later version has changed the database: the node is not ready');
        return;
      case 'unavailable':
        log.error({ reason }, 'the database does not answer: the node is not ready');
    }
  }
}
