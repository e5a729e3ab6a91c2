/**
 * What passes between the wire and a simulated provider: one request, one answer. Whatever speaks
 * HTTP/2 makes the one and sends the other, and the providers know no more of it.
 */

import type { Field } from '../../http2/hpack/field.ts';
import type { ConnectionMemory } from './connection-memory.ts';

export interface ProviderRequest {
  readonly method: string;
  readonly path: string;
  readonly authority: string;
  /** Without pseudo-fields. The list is never changed again, so it may be kept. */
  readonly fields: readonly Field[];
  /**
   * At most BODY_BYTES_MAX and one byte more, which is how a provider sees that there was more. Its
   * bytes are the request's only until the provider has answered.
   */
  readonly body: Buffer;
  /** Made by the wire with the connection, and the provider's from then on. */
  readonly connection: ConnectionMemory;
}

export interface ProviderAnswer {
  readonly status: number;
  /** Fields that do not vary are the same objects in every answer. */
  readonly fields: readonly Field[];
  /** Empty: the answer is its fields alone. */
  readonly body: string;
  /**
   * The device that it says was reached; absent: none was. If the answer is lost, the client cannot
   * know.
   */
  readonly acceptedToken?: string | undefined;
}

/** An answer, or none ever: a stream that stays open and silent. */
export type Handler = (request: ProviderRequest) => ProviderAnswer | 'silence';

/**
 * No valid request comes near: APNs takes 5,120 bytes at most, FCM 4,096 of payload in a little
 * JSON.
 */
export const BODY_BYTES_MAX = 65_536;
