/**
 * WINDOW_UPDATE (RFC 9113, 6.9): more octets may be sent, on a stream or, with stream 0, on the
 * connection.
 */

import { ConnectionError, ErrorCode, StreamError } from '../error.ts';
import { Flag, FRAME_HEAD_OCTETS, FrameType, readUint31, writeFrameHead } from './head.ts';

const PAYLOAD_OCTETS = 4;
export const WINDOW_UPDATE_OCTETS = FRAME_HEAD_OCTETS + PAYLOAD_OCTETS;

/** The increment, at least 1. */
export function loadWindowUpdate(
  streamId: number,
  bytes: Buffer,
  start: number,
  end: number,
): number {
  if (end - start !== PAYLOAD_OCTETS) {
    throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, 'WINDOW_UPDATE is not 4 octets long');
  }
  const increment = readUint31(bytes, start);
  if (increment > 0) return increment;
  // 6.9: an error of the stream, or of the connection when it is the connection's window.
  if (streamId === 0) throw new ConnectionError(ErrorCode.PROTOCOL_ERROR, 'WINDOW_UPDATE of 0');
  throw new StreamError(streamId, ErrorCode.PROTOCOL_ERROR, 'WINDOW_UPDATE of 0');
}

/** Writes the whole frame; returns the offset after it. */
export function writeWindowUpdate(
  into: Buffer,
  offset: number,
  streamId: number,
  increment: number,
): number {
  const head = {
    length: PAYLOAD_OCTETS,
    type: FrameType.WINDOW_UPDATE,
    flags: Flag.NONE,
    streamId,
  };
  return into.writeUInt32BE(increment, writeFrameHead(into, offset, head));
}
