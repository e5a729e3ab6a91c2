/** A connection of a pool, with what the pool has noted of it. */

import type { Attempt, ProviderConnection } from '../provider-connection.ts';

/**
 * In use for less of the time, one more connection than the others is spare: what short pushes fill
 * for moments others can take.
 */
const USED_SHARE_MIN = 0.1;
/** After it began a request it counts as in use for a round trip, and for this. */
const USED_MS = 20;

export class Member {
  readonly address: string;
  readonly openedAtMs: number;
  /** It is replaced from then on. */
  readonly agedAtMs: number;
  /** When it last began a request. */
  usedAtMs: number;
  hasStarted = false;
  /** The provider has answered here. One that never does is not reconnected to in a hurry. */
  hasAnswered = false;
  /**
   * An expired authorization was seen. APNs keeps refusing on that connection (pushy closes it
   * too).
   */
  isWedged = false;
  /** We have no more use for it: that it answered nothing says nothing of the provider. */
  isDismissed = false;
  /** It takes no more requests. */
  isRetired = false;
  isGone = false;
  /** How much of the time it was in use, of late. */
  #usedShare = 1;
  #sampledAtMs: number;
  /** Null until it is connected. */
  connection: ProviderConnection | null = null;

  constructor(address: string, nowMs: number, ageMsMax: number) {
    this.address = address;
    this.openedAtMs = nowMs;
    this.usedAtMs = nowMs;
    this.#sampledAtMs = nowMs;
    // Up to a tenth earlier by chance: connections that were opened together must not end together.
    this.agedAtMs = nowMs + ageMsMax * (1 - Math.random() / 10);
  }

  /** It is hardly used: not for `idleMsMax`, or long enough for less than a tenth of the time. */
  get isSpare(): boolean {
    return this.#usedShare < USED_SHARE_MIN;
  }

  /**
   * To be called now and then. A share that fades as fast as to fall from all to the least within
   * `idleMsMax` without use.
   */
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
