/**
 * Sends content as far as both flow-control windows and the socket allow (RFC 9113, 5.2 and 6.9),
 * and goes on when they allow more. Streams that have to wait are kept in order and served in turn,
 * a frame each.
 */

import type { Output } from '../codec/output.ts';
import { ConnectionError, ErrorCode, StreamError } from '../error.ts';
import { writeData } from '../frame/data.ts';
import { FRAME_HEAD_OCTETS } from '../frame/head.ts';
import { FRAME_OCTETS_MAX, INITIAL_WINDOW_OCTETS } from '../frame/settings.ts';
import type { Stream } from '../stream/stream.ts';
import { grownWindow } from '../stream/window.ts';
import type { FloodGuard } from './flood-guard.ts';

export class ContentSender<S extends Stream> {
  /** Octets that the connection's window allows. SETTINGS do not change it (6.9.2). */
  connectionWindow = INITIAL_WINDOW_OCTETS;
  readonly #output: Output;
  readonly #flood: FloodGuard;
  readonly #endsApart: boolean;
  readonly #onSent: (stream: S) => void;
  /**
   * Streams whose content waits for a window or the socket. At most as many as streams are open.
   */
  readonly #waiting = new Set<S>();

  /**
   * `endsApart`: END_STREAM comes in an empty frame. `onSent` is called when a stream's content is
   * written to its end.
   */
  constructor(output: Output, flood: FloodGuard, endsApart: boolean, onSent: (stream: S) => void) {
    this.#output = output;
    this.#flood = flood;
    this.#endsApart = endsApart;
    this.#onSent = onSent;
  }

  /** Some content waits: later frames must not overtake it. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Sends `content`, and END_STREAM with its end. */
  send(stream: S, content: Buffer): void {
    stream.pending = content;
    this.#waiting.add(stream);
    // Streams that wait already still cannot send. Trying all of them each time would be quadratic.
    let hasSent = true;
    while (hasSent) hasSent = this.#sendFrame(stream);
  }

  /** The stream is closed: the rest of its content is not sent any more. */
  forget(stream: S): void {
    if (stream.pending !== null) this.#waiting.delete(stream);
  }

  /**
   * WINDOW_UPDATE of the connection. A window above the maximum is a FLOW_CONTROL_ERROR (6.9.1).
   */
  growConnectionWindow(increment: number): void {
    const grown = grownWindow(this.connectionWindow, increment);
    if (grown === null) {
      throw new ConnectionError(ErrorCode.FLOW_CONTROL_ERROR, 'connection window above 2^31-1');
    }
    this.connectionWindow = grown;
    this.proceed();
  }

  /** WINDOW_UPDATE of a stream; the error is the stream's (6.9.1). */
  growStreamWindow(stream: S, increment: number): void {
    const grown = grownWindow(stream.sendWindow, increment);
    if (grown === null) {
      throw new StreamError(stream.id, ErrorCode.FLOW_CONTROL_ERROR, 'stream window above 2^31-1');
    }
    stream.sendWindow = grown;
    this.proceed();
  }

  /**
   * Sends as much waiting content as possible. Called when a window has grown or the socket has
   * caught up.
   */
  proceed(): void {
    let hasSent = true;
    while (hasSent) {
      hasSent = false;
      for (const stream of this.#waiting) hasSent = this.#sendFrame(stream) || hasSent;
    }
  }

  /** One DATA frame, if it may be sent. */
  #sendFrame(stream: S): boolean {
    const { pending } = stream;
    if (pending === null || this.#output.isBehind) return false;
    const allowed = Math.min(stream.sendWindow, this.connectionWindow, FRAME_OCTETS_MAX);
    // An empty frame with END_STREAM needs no window (6.9.1).
    if (allowed <= 0 && pending.length > 0) return false;
    const end = Math.min(pending.length, Math.max(0, allowed));
    const isEndStream = end === pending.length && (pending.length === 0 || !this.#endsApart);
    const output = this.#output;
    output.reserve(FRAME_HEAD_OCTETS + end);
    const content = { bytes: pending, start: 0, end };
    output.offset = writeData(output.buffer, output.offset, stream.id, content, isEndStream);
    stream.sendWindow -= end;
    this.connectionWindow -= end;
    this.#flood.earn();
    if (isEndStream) {
      this.#waiting.delete(stream);
      stream.pending = null;
      this.#onSent(stream);
    } else {
      stream.pending = pending.subarray(end);
    }
    return true;
  }
}
