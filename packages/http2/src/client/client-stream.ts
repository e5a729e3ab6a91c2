/** A stream as the client sees it: a request that was sent, and the receiver of its answer. */

import type { Field } from '../hpack/field.ts';
import type { ResponseHead } from '../message/response.ts';
import { Stream } from '../stream/stream.ts';

/** A complete response. It is valid only during the call that hands it over, its body at least. */
export interface Response {
  readonly status: number;
  readonly fields: readonly Field[];
  readonly body: Buffer;
  /** The body was longer than the limit; the rest was not waited for. */
  readonly isTruncated: boolean;
  readonly trailers: readonly Field[];
}

/** Its body stays in the buffer that received it: of most responses only the status is used. */
export class ReceivedResponse implements Response {
  readonly status: number;
  readonly fields: readonly Field[];
  readonly isTruncated: boolean;
  readonly trailers: readonly Field[];
  readonly #bytes: Buffer;
  readonly #start: number;
  readonly #end: number;

  /** Its body: `bytes[start, end)`. */
  constructor(
    { status, fields }: ResponseHead,
    { trailers, isTruncated }: Pick<Response, 'trailers' | 'isTruncated'>,
    bytes: Buffer,
    start: number,
    end: number,
  ) {
    this.status = status;
    this.fields = fields;
    this.isTruncated = isTruncated;
    this.trailers = trailers;
    this.#bytes = bytes;
    this.#start = start;
    this.#end = end;
  }

  get body(): Buffer {
    return this.#bytes.subarray(this.#start, this.#end);
  }
}

/** Why there is no complete response. */
export interface RequestFailure {
  /**
   * Whether the peer has certainly not processed the request, so that it can be sent again (RFC
   * 9113, 8.7).
   */
  readonly isUnprocessed: boolean;
  readonly reason: string;
  /** The status, if it arrived before the response broke off. */
  readonly status: number | null;
}

/** Learns the end of one request: by exactly one call, never from inside `send`. */
export interface ResponseReceiver {
  answered(response: Response): void;
  failed(failure: RequestFailure): void;
}

const NOBODY: ResponseReceiver = { answered: () => undefined, failed: () => undefined };
const NO_FIELDS: readonly Field[] = [];

export class ClientStream extends Stream {
  receiver = NOBODY;
  head: ResponseHead | null = null;
  trailers = NO_FIELDS;
  isTruncated = false;
  /** The connection's count of sweeps when it was sent. */
  sentAtSweep = 0;
  /** The output's count of flushes when it was written. */
  writtenAtFlush = 0;

  override open(id: number, sendWindow: number): void {
    super.open(id, sendWindow);
    this.head = null;
    this.trailers = NO_FIELDS;
    this.isTruncated = false;
  }

  override release(): void {
    super.release();
    this.receiver = NOBODY;
  }
}
