/** PING (RFC 9113, 6.7): asks for a sign of life; the answer carries the same eight octets. */

import { ConnectionError, ErrorCode } from '../error.ts';
import { Flag, FRAME_HEAD_OCTETS, FrameType, writeFrameHead } from './head.ts';

const PING_OCTETS = 8;

/** Checks a PING; its eight octets are `bytes[start, end)`. */
export function loadPing(streamId: number, start: number, end: number): void {
  if (streamId !== 0) throw new ConnectionError(ErrorCode.PROTOCOL_ERROR, 'PING on a stream');
  if (end - start !== PING_OCTETS) {
    throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, 'PING is not 8 octets long');
  }
}

export function pingFrame(opaqueData: Buffer, isAck: boolean): Buffer {
  const frame = Buffer.alloc(FRAME_HEAD_OCTETS + PING_OCTETS);
  const flags = isAck ? Flag.ACK : Flag.NONE;
  const head = { length: PING_OCTETS, type: FrameType.PING, flags, streamId: 0 };
  frame.set(opaqueData, writeFrameHead(frame, 0, head));
  return frame;
}
