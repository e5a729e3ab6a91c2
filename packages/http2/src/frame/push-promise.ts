/**
 * PUSH_PROMISE (RFC 9113, 6.6). We forbid pushes (ENABLE_PUSH 0), so it is only checked for faults.
 */

import { ConnectionError, ErrorCode } from '../error.ts';
import { readUint31 } from './head.ts';
import type { Content } from './padding.ts';
import { withoutPadding } from './padding.ts';

interface PushPromise {
  readonly promisedStreamId: number;
  readonly fragment: Content;
}

const PROMISED_STREAM_ID_OCTETS = 4;

export function loadPushPromise(
  flags: number,
  streamId: number,
  bytes: Buffer,
  start: number,
  end: number,
): PushPromise {
  if (streamId === 0) {
    throw new ConnectionError(ErrorCode.PROTOCOL_ERROR, 'PUSH_PROMISE on stream 0');
  }
  const content = withoutPadding(flags, bytes, start, end);
  if (content.end - content.start < PROMISED_STREAM_ID_OCTETS) {
    throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, 'PUSH_PROMISE without promised stream');
  }
  const promisedStreamId = readUint31(bytes, content.start);
  // 5.1.1: a server's streams have even numbers, and 0 is the connection.
  if (promisedStreamId === 0 || promisedStreamId % 2 === 1) {
    throw new ConnectionError(
      ErrorCode.PROTOCOL_ERROR,
      `PUSH_PROMISE of stream ${promisedStreamId}`,
    );
  }
  return {
    promisedStreamId,
    fragment: { start: content.start + PROMISED_STREAM_ID_OCTETS, end: content.end },
  };
}
