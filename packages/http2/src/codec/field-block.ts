/**
 * Field blocks on the wire (RFC 9113, 4.3): one HEADERS frame and as many CONTINUATION frames as
 * needed. Incoming blocks are joined within limits, outgoing ones are cut.
 */

import { ConnectionError, ErrorCode } from '../error.ts';
import { Flag, FRAME_HEAD_OCTETS, FrameType, writeFrameHead } from '../frame/head.ts';
import type { Content } from '../frame/padding.ts';

/**
 * The largest compressed block that is joined: ten times what any provider sends, with room for a
 * proxy's cookies.
 */
const BLOCK_OCTETS_MAX = 65_536;
/**
 * CVE-2024-27316: an endless series of CONTINUATION frames, even empty ones. A block of the size
 * above needs three.
 */
const CONTINUATIONS_MAX = 16;

/** A block whose last frame has not arrived. Until then no other frame may come at all (4.3). */
export class PartialFieldBlock {
  readonly streamId: number;
  readonly isEndStream: boolean;
  readonly #fragments: Buffer[] = [];
  #octets = 0;

  constructor(streamId: number, isEndStream: boolean, bytes: Buffer, fragment: Content) {
    this.streamId = streamId;
    this.isEndStream = isEndStream;
    this.append(bytes, fragment);
  }

  /**
   * Copies a fragment. Too many fragments or octets are ENHANCE_YOUR_CALM: if we only skipped them,
   * the table would be out of step.
   */
  append(bytes: Buffer, { start, end }: Content): void {
    this.#octets += end - start;
    if (this.#octets > BLOCK_OCTETS_MAX || this.#fragments.length > CONTINUATIONS_MAX) {
      throw new ConnectionError(ErrorCode.ENHANCE_YOUR_CALM, 'a field block without end');
    }
    this.#fragments.push(Buffer.from(bytes.subarray(start, end)));
  }

  whole(): Buffer {
    return Buffer.concat(this.#fragments, this.#octets);
  }
}

/** The octets that `writeFieldBlock` writes for a block of this length. */
export const fieldBlockOctets = (blockOctets: number, frameOctetsMax: number): number =>
  blockOctets + FRAME_HEAD_OCTETS * Math.max(1, Math.ceil(blockOctets / frameOctetsMax));

/** Writes an encoded block as HEADERS and CONTINUATION frames; returns the offset after them. */
export function writeFieldBlock(
  into: Buffer,
  offset: number,
  block: Buffer,
  options: {
    readonly streamId: number;
    readonly isEndStream: boolean;
    readonly frameOctetsMax: number;
  },
): number {
  const { streamId, isEndStream, frameOctetsMax } = options;
  let at = offset;
  let start = 0;
  do {
    const end = Math.min(start + frameOctetsMax, block.length);
    const isFirst = start === 0;
    at = writeFrameHead(into, at, {
      length: end - start,
      type: isFirst ? FrameType.HEADERS : FrameType.CONTINUATION,
      flags:
        (isFirst && isEndStream ? Flag.END_STREAM : Flag.NONE) |
        (end === block.length ? Flag.END_HEADERS : Flag.NONE),
      streamId,
    });
    at += block.copy(into, at, start, end);
    start = end;
  } while (start < block.length);
  return at;
}
