/**
 * Who holds how much of the server: requests under way, and bytes of their bodies. Everybody may
 * hold as much as is left free. So one alone has half of all, two have a third each, and however
 * many take what they can get, there is room for whoever holds nothing.
 */

export interface AdmissionLimits {
  /**
   * Requests being read or handled, of all callers; beyond what a caller may have of it the answer
   * is 503.
   */
  readonly requestsMax: number;
  /** Bytes of bodies not yet handled, likewise. */
  readonly bodyBytesMax: number;
}

/** What one caller holds. */
export interface Holder {
  readonly name: string;
  requests: number;
  bodyBytes: number;
}

export class Admission {
  readonly #limits: AdmissionLimits;
  /** Those who hold anything. */
  readonly #holders = new Map<string, Holder>();
  #requests = 0;
  #bodyBytes = 0;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  /** Takes a request in. Null: its caller has as many under way as there is room left for. */
  enter(name: string): Holder | null {
    const holder = this.#holders.get(name) ?? { name, requests: 0, bodyBytes: 0 };
    if (holder.requests >= this.#limits.requestsMax - this.#requests) return null;
    this.#requests += 1;
    holder.requests += 1;
    if (holder.requests === 1) this.#holders.set(name, holder);
    return holder;
  }

  /** Counts bytes of a body that are kept. Whether their caller may have them. */
  keeps(holder: Holder, bytes: number): boolean {
    this.#bodyBytes += bytes;
    holder.bodyBytes += bytes;
    return holder.bodyBytes <= this.#limits.bodyBytesMax - this.#bodyBytes;
  }

  /** A request is over, and so many bytes of its body are gone. */
  leave(holder: Holder, bytes: number): void {
    this.#requests -= 1;
    this.#bodyBytes -= bytes;
    holder.requests -= 1;
    holder.bodyBytes -= bytes;
    if (holder.requests === 0) this.#holders.delete(holder.name);
  }
}
