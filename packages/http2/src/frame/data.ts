/** DATA (RFC 9113, 6.1): octets of a request's or response's content. */

import { ConnectionError, ErrorCode } from '../error.ts';
import { Flag, FRAME_HEAD_OCTETS, FrameType, writeFrameHead } from './head.ts';
import type { Content } from './padding.ts';
import { withoutPadding } from './padding.ts';

export function loadData(
  flags: number,
  streamId: number,
  bytes: Buffer,
  start: number,
  end: number,
): Content {
  if (streamId === 0) throw new ConnectionError(ErrorCode.PROTOCOL_ERROR, 'DATA on stream 0');
  return withoutPadding(flags, bytes, start, end);
}

/** Writes a whole DATA frame with `content[start, end)`; returns the offset after it. */
export function writeData(
  into: Buffer,
  offset: number,
  streamId: number,
  content: { readonly bytes: Uint8Array; readonly start: number; readonly end: number },
  isEndStream: boolean,
): number {
  const length = content.end - content.start;
  const flags = isEndStream ? Flag.END_STREAM : Flag.NONE;
  writeFrameHead(into, offset, { length, type: FrameType.DATA, flags, streamId });
  into.set(content.bytes.subarray(content.start, content.end), offset + FRAME_HEAD_OCTETS);
  return offset + FRAME_HEAD_OCTETS + length;
}
