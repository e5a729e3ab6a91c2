/**
 * Cuts the chunks of a socket into frames. A chunk holds many frames and may end within one. Whole
 * frames are handed on in place; only a frame that was cut by a chunk's end is joined in a buffer
 * of its own.
 */

import { ConnectionError, ErrorCode } from '../error.ts';
import { FRAME_HEAD_OCTETS, readUint31 } from '../frame/head.ts';
import { FRAME_OCTETS_MAX } from '../frame/settings.ts';

export interface FrameHandler {
  /** One whole frame; its payload is `bytes[start, end)`, valid during the call only. */
  receiveFrame(
    type: number,
    flags: number,
    streamId: number,
    bytes: Buffer,
    start: number,
    end: number,
  ): void;
}

/** Our MAX_FRAME_SIZE: the initial value, since no answer of a provider comes near it. */
const BUFFER_OCTETS = FRAME_HEAD_OCTETS + FRAME_OCTETS_MAX;

export class FrameReader {
  readonly #handler: FrameHandler;
  /** The beginning of a frame whose end has not arrived. */
  readonly #partial = Buffer.allocUnsafeSlow(BUFFER_OCTETS);
  #partialOctets = 0;
  /** The part of the preface that has not arrived yet. */
  #preface: Buffer;

  constructor(handler: FrameHandler, preface: Buffer) {
    this.#handler = handler;
    this.#preface = preface;
  }

  /**
   * Hands on every frame that is complete now. Throws what the handler throws, and
   * ConnectionErrors.
   */
  read(chunk: Buffer): void {
    let offset = this.#preface.length === 0 ? 0 : this.#readPreface(chunk);
    const end = chunk.length;
    if (this.#partialOctets > 0) offset = this.#completePartial(chunk, offset);
    while (end - offset >= FRAME_HEAD_OCTETS) {
      const next = offset + FRAME_HEAD_OCTETS + payloadOctets(chunk, offset);
      if (next > end) break;
      this.#hand(chunk, offset, next);
      offset = next;
    }
    if (offset < end) this.#keep(chunk, offset, end);
  }

  /** 3.4: anything but a client's preface is a PROTOCOL_ERROR. Returns the offset after it. */
  #readPreface(chunk: Buffer): number {
    const octets = Math.min(chunk.length, this.#preface.length);
    if (chunk.compare(this.#preface, 0, octets, 0, octets) !== 0) {
      throw new ConnectionError(ErrorCode.PROTOCOL_ERROR, 'no connection preface');
    }
    this.#preface = this.#preface.subarray(octets);
    return octets;
  }

  /**
   * Completes the cut frame from the chunk and hands it on; returns the offset after the octets
   * taken.
   */
  #completePartial(chunk: Buffer, start: number): number {
    let offset = start;
    if (this.#partialOctets < FRAME_HEAD_OCTETS) {
      offset = this.#keep(chunk, start, start + FRAME_HEAD_OCTETS - this.#partialOctets);
      if (this.#partialOctets < FRAME_HEAD_OCTETS) return offset;
    }
    const frameOctets = FRAME_HEAD_OCTETS + payloadOctets(this.#partial, 0);
    offset = this.#keep(chunk, offset, offset + frameOctets - this.#partialOctets);
    if (this.#partialOctets < frameOctets) return offset;
    this.#partialOctets = 0;
    this.#hand(this.#partial, 0, frameOctets);
    return offset;
  }

  /**
   * Appends `chunk[start, end)`, as far as it has arrived, to the cut frame; returns the offset
   * after it.
   */
  #keep(chunk: Buffer, start: number, end: number): number {
    const copied = chunk.copy(this.#partial, this.#partialOctets, start, end);
    this.#partialOctets += copied;
    return start + copied;
  }

  #hand(bytes: Buffer, offset: number, end: number): void {
    this.#handler.receiveFrame(
      bytes[offset + 3] as number,
      bytes[offset + 4] as number,
      readUint31(bytes, offset + 5),
      bytes,
      offset + FRAME_HEAD_OCTETS,
      end,
    );
  }
}

/**
 * 4.2: a frame longer than our MAX_FRAME_SIZE ends the connection, so no longer one is waited for.
 */
function payloadOctets(bytes: Buffer, offset: number): number {
  const octets =
    ((bytes[offset] as number) << 16) |
    ((bytes[offset + 1] as number) << 8) |
    (bytes[offset + 2] as number);
  if (octets > FRAME_OCTETS_MAX) {
    throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, `a frame of ${octets} octets`);
  }
  return octets;
}
