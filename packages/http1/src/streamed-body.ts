/** Writes a body that is made while it is sent: in chunks (RFC 9112, 7.1). */

import type { Socket } from 'node:net';
import { StreamSink } from './body-stream.ts';

/**
 * A caller with more unsent bytes than this when the next piece comes does not read, and is
 * disconnected. A piece has some KiB, that of a job with a long expression more than 64; the
 * system's own buffers hold several more.
 * @limit bytes of a streamed answer that are not taken when the next piece comes → closed
 */
export const STREAM_UNSENT_BYTES_MAX = 262_144;

interface StreamedBodyParts {
  readonly socket: Socket;
  /** A piece was written. */
  readonly onWritten: () => void;
  /** The last piece was written. */
  readonly onEnd: () => void;
}

export class StreamedBody extends StreamSink {
  readonly #parts: StreamedBodyParts;

  constructor(parts: StreamedBodyParts) {
    super();
    this.#parts = parts;
  }

  write(piece: string): void {
    // A chunk without bytes would end the body.
    if (this.isOver || piece === '') return;
    const { socket, onWritten } = this.#parts;
    if (socket.writableLength > STREAM_UNSENT_BYTES_MAX) {
      socket.destroy();
      return;
    }
    socket.write(`${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`);
    onWritten();
  }

  end(): void {
    if (this.isOver) return;
    this.#parts.socket.write('0\r\n\r\n');
    this.close();
    this.#parts.onEnd();
  }
}
