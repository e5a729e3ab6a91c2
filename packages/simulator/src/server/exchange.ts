/**
 * The interface between the wire and a simulated provider: one request, one answer. The wire speaks
 * HTTP/2, and the providers know no more of it.
 */

import type { Field } from '../../../http2/src/hpack/field.ts';
import type { ConnectionMemory } from './connection-memory.ts';

export interface ProviderRequest {
  readonly method: string;
  readonly path: string;
  readonly authority: string;
  /** Without pseudo-fields. The list is never changed again, so it may be kept. */
  readonly fields: readonly Field[];
  /**
   * At most BODY_BYTES_MAX and one byte more, which shows the provider that the body was longer.
   * The bytes are valid until the provider has answered.
   */
  readonly body: Buffer;
  /** Made by the wire with the connection, then used by the provider. */
  readonly connection: ConnectionMemory;
}

export interface ProviderAnswer {
  readonly status: number;
  /** Constant fields are the same objects in every answer. */
  readonly fields: readonly Field[];
  /** Empty: the answer is its fields alone. */
  readonly body: string;
  /**
   * The device that was reached according to the answer; absent: none. If the answer is lost, the
   * client cannot know.
   */
  readonly acceptedToken?: string | undefined;
}

/** An answer, or none: a stream that stays open and silent. */
export type Handler = (request: ProviderRequest) => ProviderAnswer | 'silence';

/**
 * No valid request comes near: APNs accepts 5,120 bytes at most, FCM 4,096 of payload in a little
 * JSON.
 */
export const BODY_BYTES_MAX = 65_536;
