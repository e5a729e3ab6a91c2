/** A connection of a pool, with what the pool has noted of it. */

import type { Attempt, ProviderConnection } from '../provider-connection.ts';

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
  /** An expired authorization was seen. APNs keeps refusing on that connection (pushy closes it too). */
  isWedged = false;
  /** We have no more use for it: that it answered nothing says nothing of the provider. */
  isDismissed = false;
  /** It takes no more requests. */
  isRetired = false;
  isGone = false;
  /** Null until it is connected. */
  connection: ProviderConnection | null = null;

  constructor(address: string, nowMs: number, ageMsMax: number) {
    this.address = address;
    this.openedAtMs = nowMs;
    this.usedAtMs = nowMs;
    // Up to a tenth earlier by chance: connections that were opened together must not end together.
    this.agedAtMs = nowMs + ageMsMax * (1 - Math.random() / 10);
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
