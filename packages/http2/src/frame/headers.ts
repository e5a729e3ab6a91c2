/**
 * HEADERS (RFC 9113, 6.2): opens a stream, or answers on one; carries the first fragment of a field
 * block.
 */

import { ConnectionError, ErrorCode } from '../error.ts';
import { Flag } from './head.ts';
import type { Content } from './padding.ts';
import { withoutPadding } from './padding.ts';
import type { Priority } from './priority.ts';
import { PRIORITY_OCTETS, readPriority } from './priority.ts';

interface Headers {
  readonly fragment: Content;
  readonly priority: Priority | null;
}

export function loadHeaders(
  flags: number,
  streamId: number,
  bytes: Buffer,
  start: number,
  end: number,
): Headers {
  if (streamId === 0) throw new ConnectionError(ErrorCode.PROTOCOL_ERROR, 'HEADERS on stream 0');
  const fragment = withoutPadding(flags, bytes, start, end);
  if ((flags & Flag.PRIORITY) === 0) return { fragment, priority: null };
  if (fragment.end - fragment.start < PRIORITY_OCTETS) {
    throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, 'HEADERS too short for its priority');
  }
  return {
    fragment: { start: fragment.start + PRIORITY_OCTETS, end: fragment.end },
    priority: readPriority(bytes, fragment.start),
  };
}
