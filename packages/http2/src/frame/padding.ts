/** The padding that DATA, HEADERS and PUSH_PROMISE may carry (RFC 9113, 6.1). */

import { ConnectionError, ErrorCode } from '../error.ts';
import { Flag } from './head.ts';

/** Where a payload's content lies. */
export interface Content {
  readonly start: number;
  readonly end: number;
}

/**
 * The payload without its padding. Padding of the payload's length or more is a PROTOCOL_ERROR
 * (6.1).
 */
export function withoutPadding(flags: number, bytes: Buffer, start: number, end: number): Content {
  if ((flags & Flag.PADDED) === 0) return { start, end };
  if (start === end) throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, 'no Pad Length');
  const padding = bytes[start] as number;
  if (padding >= end - start) {
    throw new ConnectionError(ErrorCode.PROTOCOL_ERROR, 'padding longer than the payload');
  }
  return { start: start + 1, end: end - padding };
}
