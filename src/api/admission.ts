/**
 * Shares requests and bytes of bodies among callers. Shares are small where much is taken
 * (std/share.ts): a hundred greedy callers leave room for one that holds nothing.
 */

import { shareOf } from '../std/share.ts';

export interface AdmissionLimits {
  /** A request beyond its caller's share is answered 503. */
  readonly requestsMax: number;
  /** Bytes of the bodies of these requests, and of what these become when parsed. */
  readonly bodyBytesMax: number;
}

export interface Holder {
  readonly name: string;
  requests: number;
  bodyBytes: number;
}

export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #holders = new Map<string, Holder>();
  #requests = 0;
  #bodyBytes = 0;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  /** Null: its caller already holds its share. */
  enter(name: string): Holder | null {
    const holder = this.#holders.get(name) ?? { name, requests: 0, bodyBytes: 0 };
    const { requestsMax } = this.#limits;
    if (holder.requests >= shareOf(requestsMax - this.#requests, requestsMax)) return null;
    this.#requests += 1;
    holder.requests += 1;
    if (holder.requests === 1) this.#holders.set(name, holder);
    return holder;
  }

  /** Bytes of a body, or of what it becomes. False: their caller may not hold them. */
  keeps(holder: Holder, bytes: number): boolean {
    this.#bodyBytes += bytes;
    holder.bodyBytes += bytes;
    const { bodyBytesMax } = this.#limits;
    const free = Math.max(0, bodyBytesMax - this.#bodyBytes);
    return holder.bodyBytes <= shareOf(free, bodyBytesMax);
  }

  leave(holder: Holder, bytes: number): void {
    this.#requests -= 1;
    this.#bodyBytes -= bytes;
    holder.requests -= 1;
    holder.bodyBytes -= bytes;
    if (holder.requests === 0) this.#holders.delete(holder.name);
  }
}
