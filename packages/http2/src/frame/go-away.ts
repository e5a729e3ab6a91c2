/** GOAWAY (RFC 9113, 6.8): no further streams; those above `lastStreamId` were not processed. */

import { ConnectionError, ErrorCode } from '../error.ts';
import {
  Flag,
  FRAME_HEAD_OCTETS,
  FrameType,
  readUint31,
  readUint32,
  writeFrameHead,
} from './head.ts';

export interface GoAway {
  readonly lastStreamId: number;
  readonly code: number;
  /** For a human reader (6.8): a copy, cut to `DEBUG_DATA_OCTETS_MAX`. */
  readonly debugData: Buffer;
}

/** Servers send a word or a line; a log entry needs no more. */
const DEBUG_DATA_OCTETS_MAX = 512;
const FIXED_OCTETS = 8;

export function loadGoAway(streamId: number, bytes: Buffer, start: number, end: number): GoAway {
  if (streamId !== 0) throw new ConnectionError(ErrorCode.PROTOCOL_ERROR, 'GOAWAY on a stream');
  if (end - start < FIXED_OCTETS) {
    throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, 'GOAWAY shorter than 8 octets');
  }
  const debugStart = start + FIXED_OCTETS;
  return {
    lastStreamId: readUint31(bytes, start),
    code: readUint32(bytes, start + 4),
    debugData: Buffer.from(
      bytes.subarray(debugStart, Math.min(end, debugStart + DEBUG_DATA_OCTETS_MAX)),
    ),
  };
}

/** A whole GOAWAY frame. */
export function goAwayFrame({ lastStreamId, code, debugData }: GoAway): Buffer {
  const length = FIXED_OCTETS + debugData.length;
  const frame = Buffer.alloc(FRAME_HEAD_OCTETS + length);
  const head = { length, type: FrameType.GOAWAY, flags: Flag.NONE, streamId: 0 };
  let at = writeFrameHead(frame, 0, head);
  at = frame.writeUInt32BE(lastStreamId, at);
  at = frame.writeUInt32BE(code, at);
  frame.set(debugData, at);
  return frame;
}
