/**
 * Shares the server among callers: requests under way, and bytes of their bodies. The share of a
 * caller is small where much is taken (std/share.ts), so that a hundred callers who take all they
 * may leave room for one that holds nothing.
 */

import { shareOf } from '../std/share.ts';

export interface AdmissionLimits {
  /**
   * Requests being read or handled, of all callers. A request beyond its caller's share is answered
   * 503.
   */
  readonly requestsMax: number;
  /** Bytes of the bodies of these requests, and of what these become when parsed, likewise. */
  readonly bodyBytesMax: number;
}

/** The share that one caller holds. */
export interface Holder {
  readonly name: string;
  requests: number;
  bodyBytes: number;
}

export class Admission {
  readonly #limits: AdmissionLimits;
  /** Callers that hold anything. */
  readonly #holders = new Map<string, Holder>();
  #requests = 0;
  #bodyBytes = 0;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  /** Admits a request. Null: its caller already holds its share of them. */
  enter(name: string): Holder | null {
    const holder = this.#holders.get(name) ?? { name, requests: 0, bodyBytes: 0 };
    const { requestsMax } = this.#limits;
    if (holder.requests >= shareOf(requestsMax - this.#requests, requestsMax)) return null;
    this.#requests += 1;
    holder.requests += 1;
    if (holder.requests === 1) this.#holders.set(name, holder);
    return holder;
  }

  /**
   * Counts bytes of a body, or of what it becomes, that are kept. False: their caller may not hold
   * them.
   */
  keeps(holder: Holder, bytes: number): boolean {
    this.#bodyBytes += bytes;
    holder.bodyBytes += bytes;
    const { bodyBytesMax } = this.#limits;
    const free = Math.max(0, bodyBytesMax - this.#bodyBytes);
    return holder.bodyBytes <= shareOf(free, bodyBytesMax);
  }

  /** A request is over, and this many bytes of its body are released. */
  leave(holder: Holder, bytes: number): void {
    this.#requests -= 1;
    this.#bodyBytes -= bytes;
    holder.requests -= 1;
    holder.bodyBytes -= bytes;
    if (holder.requests === 0) this.#holders.delete(holder.name);
  }
}
