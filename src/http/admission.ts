/**
 * Shares the server among callers: requests under way, and bytes of their bodies. A caller may hold
 * as much as is still free. So a single caller gets half of the total, and two get a third each.
 * However many callers take all they may, there is room for a caller that holds nothing.
 */

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

  /** Admits a request. Null: its caller already holds as many requests as are still free. */
  enter(name: string): Holder | null {
    const holder = this.#holders.get(name) ?? { name, requests: 0, bodyBytes: 0 };
    if (holder.requests >= this.#limits.requestsMax - this.#requests) return null;
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
    return holder.bodyBytes <= this.#limits.bodyBytesMax - this.#bodyBytes;
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
