/**
 * Writes frames into the output. It owns the connection's encoder: every field block that is
 * encoded must be sent, because the peer's table has to see it (RFC 7541, 2.3).
 */

import { Flag, FRAME_HEAD_OCTETS, FrameType, writeFrameHead } from '../frame/head.ts';
import { RST_STREAM_OCTETS, writeRstStream } from '../frame/rst-stream.ts';
import { FRAME_OCTETS_MAX } from '../frame/settings.ts';
import { WINDOW_UPDATE_OCTETS, writeWindowUpdate } from '../frame/window-update.ts';
import { Encoder, fieldsSizeMax } from '../hpack/encoder.ts';
import type { Field } from '../hpack/field.ts';
import { fieldBlockOctets, writeFieldBlock } from './field-block.ts';
import type { Output } from './output.ts';

export class FrameWriter {
  readonly encoder = new Encoder();
  readonly #output: Output;

  constructor(output: Output) {
    this.#output = output;
  }

  /** HEADERS, and CONTINUATION when the fields do not fit into one frame. */
  fields(streamId: number, fields: readonly Field[], isEndStream: boolean): void {
    const blockOctetsMax = fieldsSizeMax(fields);
    if (blockOctetsMax > FRAME_OCTETS_MAX) {
      this.#longFields(streamId, fields, isEndStream);
      return;
    }
    const output = this.#output;
    output.reserve(FRAME_HEAD_OCTETS + blockOctetsMax);
    const { buffer, offset } = output;
    output.offset = this.encoder.encode(fields, buffer, offset + FRAME_HEAD_OCTETS);
    const length = output.offset - offset - FRAME_HEAD_OCTETS;
    const flags = Flag.END_HEADERS | (isEndStream ? Flag.END_STREAM : Flag.NONE);
    writeFrameHead(buffer, offset, { length, type: FrameType.HEADERS, flags, streamId });
  }

  rstStream(streamId: number, code: number): void {
    const output = this.#output;
    output.reserve(RST_STREAM_OCTETS);
    output.offset = writeRstStream(output.buffer, output.offset, streamId, code);
  }

  /** Writes nothing for an increment of 0, which would be an error (RFC 9113, 6.9). */
  windowUpdate(streamId: number, increment: number): void {
    if (increment === 0) return;
    const output = this.#output;
    output.reserve(WINDOW_UPDATE_OCTETS);
    output.offset = writeWindowUpdate(output.buffer, output.offset, streamId, increment);
  }

  #longFields(streamId: number, fields: readonly Field[], isEndStream: boolean): void {
    const output = this.#output;
    const room = Buffer.allocUnsafe(fieldsSizeMax(fields));
    const block = room.subarray(0, this.encoder.encode(fields, room, 0));
    output.reserve(fieldBlockOctets(block.length, FRAME_OCTETS_MAX));
    // No longer frames, even for a peer that would accept them: every peer accepts this size (RFC
    // 9113, 6.5.2).
    const options = { streamId, isEndStream, frameOctetsMax: FRAME_OCTETS_MAX };
    output.offset = writeFieldBlock(output.buffer, output.offset, block, options);
  }
}
