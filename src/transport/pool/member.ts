/** A connection of a pool, with the pool's notes on it. */

import type { Attempt, ProviderConnection } from '../provider-connection.ts';

/** Below this share it is spare, if there are others: they can take short pushes. */
const USED_SHARE_MIN = 0.1;
/** After a request begins, the connection counts as in use for a round trip and this time. */
const USED_MS = 20;

export class Member {
  readonly address: string;
  readonly openedAtMs: number;
  /** Monotonic time from which it is replaced. */
  readonly agedAtMs: number;
  usedAtMs: number;
  hasStarted = false;
  /** The provider has answered here. If it never does, the pool pauses before it connects again. */
  hasAnswered = false;
  /** The authorization had expired here. APNs keeps refusing on such a connection. */
  isWedged = false;
  /** The pool has no more use for it: if it never answered, that is no fault of the provider. */
  isDismissed = false;
  isRetired = false;
  isGone = false;
  #usedShare = 1;
  #sampledAtMs: number;
  connection: ProviderConnection | null = null;

  constructor(address: string, nowMs: number, ageMsMax: number) {
    this.address = address;
    this.openedAtMs = nowMs;
    this.usedAtMs = nowMs;
    this.#sampledAtMs = nowMs;
    // Up to a tenth earlier: connections opened together must not end together.
    this.agedAtMs = nowMs + ageMsMax * (1 - Math.random() / 10);
  }

  /** Hardly used: not for `idleMsMax`, or for longer less than a tenth of the time. */
  get isSpare(): boolean {
    return this.#usedShare < USED_SHARE_MIN;
  }

  /** Called at intervals: without use the share falls from 1 to USED_SHARE_MIN in `idleMsMax`. */
  sample(nowMs: number, roundTripMs: number, idleMsMax: number): void {
    const kept = USED_SHARE_MIN ** ((nowMs - this.#sampledAtMs) / idleMsMax);
    const isUsed = nowMs - this.usedAtMs <= roundTripMs + USED_MS;
    this.#usedShare = this.#usedShare * kept + (isUsed ? 1 - kept : 0);
    this.#sampledAtMs = nowMs;
  }

  get free(): number {
    return this.isRetired || this.connection === null ? 0 : this.connection.free;
  }

  /** Opens a stream. The caller has seen `free` above 0. */
  start(attempt: Attempt, authorization: string, nowMs: number): void {
    this.hasStarted = true;
    this.usedAtMs = nowMs;
    this.connection?.start(attempt, authorization);
  }
}
