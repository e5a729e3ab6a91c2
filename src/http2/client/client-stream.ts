/** A stream as the client sees it: a request that was sent, and who is to hear of its answer. */

import type { Field } from '../hpack/field.ts';
import type { ResponseHead } from '../message/response.ts';
import { Stream } from '../stream/stream.ts';

/** A whole response. It is valid during the call that hands it over only, its body at least. */
export interface Response {
  readonly status: number;
  readonly fields: readonly Field[];
  readonly body: Buffer;
  /** The body was longer than is kept; the rest was not waited for. */
  readonly isTruncated: boolean;
  readonly trailers: readonly Field[];
}

/** Its body lies where it was received: of most responses the status is all that anybody wants. */
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

/** Why there is no whole response. */
export interface RequestFailure {
  /**
   * Whether the peer has certainly not looked at the request, so that it can be sent again (RFC
   * 9113, 8.7).
   */
  readonly isUnprocessed: boolean;
  readonly reason: string;
  /** The status that came before the response broke off. */
  readonly status: number | null;
}

/** Hears of one request: exactly one call, never from inside `send`. */
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
