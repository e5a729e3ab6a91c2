/** Writes a body that is made while it is sent: in chunks (RFC 9112, 7.1). */

import { StreamSink } from '../../http1/src/body-stream.ts';
import { STREAM_UNSENT_BYTES_MAX } from '../../http1/src/streamed-body.ts';
import type { UwsResponse } from './uws.ts';

/**
 * uWebSockets.js keeps a part whole that it cannot send at once, and does not say how much of it is
 * sent since. So parts are smaller than the room that it reports.
 */
const PART_BYTES_MAX = 2_048;

interface StreamedAnswerParts {
  readonly res: UwsResponse;
  /** So many bytes wait for the caller. */
  readonly onUnsent: (bytes: number) => void;
  /** The caller does not read. */
  readonly onTooMuch: () => void;
  /** The last piece was written. */
  readonly onEnd: () => void;
}

export class StreamedAnswer extends StreamSink {
  readonly #parts: StreamedAnswerParts;
  /** Parts that uWebSockets.js does not have yet: it has reported no room since `#keptBytes`. */
  #waiting: (string | Buffer)[] = [];
  #waitingBytes = 0;
  /** Bytes of the part that it could not send at once. */
  #keptBytes = 0;

  constructor(parts: StreamedAnswerParts) {
    super();
    this.#parts = parts;
    // Without this it would send what it keeps by itself, and close the connection 10 s later.
    parts.res.onWritable(() => this.#goOn());
  }

  /**
   * Rule (j): no `beginWrite`, which writes a line break too many. The head goes out with the first
   * piece.
   */
  write(piece: string): void {
    // A chunk without bytes would end the body.
    if (this.isOver || piece === '') return;
    for (const part of partsOf(piece)) {
      this.#waiting.push(part);
      this.#waitingBytes += Buffer.byteLength(part);
    }
    if (this.#keptBytes === 0) this.#sendWaiting();
    else this.#noteUnsent();
  }

  end(): void {
    if (this.isOver) return;
    this.close();
    // It keeps what it cannot send.
    for (const part of this.#waiting) this.#send(part);
    this.#waiting = [];
    this.#parts.onEnd();
  }

  /** There is room. What uWebSockets.js keeps, it sends only when it is made to. */
  #goOn(): boolean {
    this.#parts.res.cork(() => undefined);
    this.#sendWaiting();
    return true;
  }

  #sendWaiting(): void {
    this.#keptBytes = 0;
    let sent = 0;
    for (const part of this.#waiting) {
      const bytes = Buffer.byteLength(part);
      sent += 1;
      this.#waitingBytes -= bytes;
      if (!this.#send(part)) {
        this.#keptBytes = bytes;
        break;
      }
    }
    this.#waiting.splice(0, sent);
    this.#noteUnsent();
  }

  /** False: uWebSockets.js keeps this part, and will report when there is room. */
  #send(part: string | Buffer): boolean {
    let isSent = true;
    this.#parts.res.cork(() => {
      isSent = this.#parts.res.write(part);
    });
    return isSent;
  }

  #noteUnsent(): void {
    const { onUnsent, onTooMuch } = this.#parts;
    const bytes = this.#waitingBytes + this.#keptBytes;
    if (bytes > STREAM_UNSENT_BYTES_MAX) onTooMuch();
    else onUnsent(bytes);
  }
}

/** Most pieces are short. */
function partsOf(piece: string): readonly (string | Buffer)[] {
  if (Buffer.byteLength(piece) <= PART_BYTES_MAX) return [piece];
  const bytes = Buffer.from(piece);
  const count = Math.ceil(bytes.length / PART_BYTES_MAX);
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * PART_BYTES_MAX, (index + 1) * PART_BYTES_MAX),
  );
}
