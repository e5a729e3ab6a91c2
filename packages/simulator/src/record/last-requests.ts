/** The newest requests to a provider, complete, so that a test can inspect the one for a token. */

import type { Field } from '../../../http2/src/hpack/field.ts';
import type { ProviderRequest } from '../server/exchange.ts';

/**
 * The newest ones are kept. Not ten times as many: the garbage collector moves objects that outlive
 * a request.
 * @limit last requests kept whole, of each simulated provider → the newest stay
 */
export const LAST_REQUESTS_MAX = 1_000;

/** Nearly every body fits, so that its buffer is allocated once. */
const BODY_BYTES_USUAL = 512;

export interface KeptRequest {
  readonly method: string;
  readonly path: string;
  readonly authority: string;
  readonly fields: readonly Field[];
  readonly body: Buffer;
}

/** A place in the ring, which is overwritten again and again. */
interface Place {
  token: string;
  method: string;
  path: string;
  authority: string;
  fields: readonly Field[];
  body: Buffer;
  bodyBytes: number;
}

export class LastRequests {
  readonly #ring: Place[] = [];
  #next = 0;

  /** Copies the body, which is valid only during the call. */
  keep(token: string, { method, path, authority, fields, body }: ProviderRequest): void {
    const place = this.#place();
    place.token = token;
    place.method = method;
    place.path = path;
    place.authority = authority;
    place.fields = fields;
    if (place.body.length < body.length) place.body = Buffer.allocUnsafeSlow(body.length);
    place.body.set(body);
    place.bodyBytes = body.length;
  }

  /** The newest request for the token; undefined when newer ones for others have replaced it. */
  find(token: string): KeptRequest | undefined {
    const size = this.#ring.length;
    for (let age = 1; age <= size; age += 1) {
      const place = this.#ring[(this.#next - age + size) % size];
      if (place?.token !== token) continue;
      const { method, path, authority, fields, body, bodyBytes } = place;
      return { method, path, authority, fields, body: body.subarray(0, bodyBytes) };
    }
    return undefined;
  }

  clear(): void {
    this.#ring.length = 0;
    this.#next = 0;
  }

  /** The place for the next request: a new one until the ring is full, then the oldest. */
  #place(): Place {
    const index = this.#next;
    this.#next = (index + 1) % LAST_REQUESTS_MAX;
    const oldest = this.#ring[index];
    if (oldest !== undefined) return oldest;
    const body = Buffer.allocUnsafeSlow(BODY_BYTES_USUAL);
    const place = {
      token: '',
      method: '',
      path: '',
      authority: '',
      fields: [],
      body,
      bodyBytes: 0,
    };
    this.#ring.push(place);
    return place;
  }
}
