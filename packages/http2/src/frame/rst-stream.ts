/** RST_STREAM (RFC 9113, 6.4): ends one stream at once, with the reason. */

import { ConnectionError, ErrorCode } from '../error.ts';
import { Flag, FRAME_HEAD_OCTETS, FrameType, readUint32, writeFrameHead } from './head.ts';

const PAYLOAD_OCTETS = 4;
export const RST_STREAM_OCTETS = FRAME_HEAD_OCTETS + PAYLOAD_OCTETS;

/** The error code. */
export function loadRstStream(streamId: number, bytes: Buffer, start: number, end: number): number {
  if (streamId === 0) throw new ConnectionError(ErrorCode.PROTOCOL_ERROR, 'RST_STREAM on stream 0');
  if (end - start !== PAYLOAD_OCTETS) {
    throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, 'RST_STREAM is not 4 octets long');
  }
  return readUint32(bytes, start);
}

/** Writes the whole frame; returns the offset after it. */
export function writeRstStream(
  into: Buffer,
  offset: number,
  streamId: number,
  code: number,
): number {
  const head = { length: PAYLOAD_OCTETS, type: FrameType.RST_STREAM, flags: Flag.NONE, streamId };
  return into.writeUInt32BE(code, writeFrameHead(into, offset, head));
}
