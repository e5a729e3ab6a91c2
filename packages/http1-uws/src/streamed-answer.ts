/** Writes a body that is made while it is sent: in chunks (RFC 9112, 7.1). */

import type { BodySink, BodyStream } from '../../http1/src/body-stream.ts';
import { STREAM_UNSENT_BYTES_MAX } from '../../http1/src/streamed-body.ts';
import type { UwsResponse } from './uws.ts';

interface StreamedAnswerParts {
  readonly res: UwsResponse;
  /** So many bytes wait for the caller. */
  readonly onUnsent: (bytes: number) => void;
  /** The caller does not read. */
  readonly onTooMuch: () => void;
  /** The last piece was written. */
  readonly onEnd: () => void;
}

export class StreamedAnswer implements BodySink {
  readonly #parts: StreamedAnswerParts;
  #leave: (() => void) | null = null;
  #isOver = false;
  #unsentBytes = 0;

  constructor(parts: StreamedAnswerParts) {
    this.#parts = parts;
  }

  /** Bytes that waited for the caller when the last piece was written. */
  get unsentBytes(): number {
    return this.#unsentBytes;
  }

  begin(stream: BodyStream): void {
    const leave = stream(this);
    // It may be complete already.
    if (this.#isOver) leave();
    else this.#leave = leave;
  }

  /**
   * Rule (j): no `beginWrite`, which writes a line break too many. The head goes out with the first
   * piece.
   */
  write(piece: string): void {
    // A chunk without bytes would end the body.
    if (this.#isOver || piece === '') return;
    const { res, onUnsent, onTooMuch } = this.#parts;
    let isSent = true;
    res.cork(() => {
      isSent = res.write(piece);
    });
    this.#unsentBytes = isSent ? 0 : this.#unsentBytes + Buffer.byteLength(piece);
    if (this.#unsentBytes > STREAM_UNSENT_BYTES_MAX) onTooMuch();
    else onUnsent(this.#unsentBytes);
  }

  end(): void {
    if (this.#isOver) return;
    this.close();
    this.#parts.onEnd();
  }

  /** Ends the stream. A second call changes nothing. */
  close(): void {
    this.#isOver = true;
    this.#leave?.();
    this.#leave = null;
  }
}
