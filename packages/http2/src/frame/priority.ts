/** PRIORITY (RFC 9113, 6.3), deprecated: parsed for its rules on size and stream, then ignored. */

import { ConnectionError, ErrorCode, StreamError } from '../error.ts';
import { readUint31 } from './head.ts';

export const PRIORITY_OCTETS = 5;

/** The content, as RFC 7540 defined it. */
export interface Priority {
  readonly isExclusive: boolean;
  readonly streamDependency: number;
  /** 1 to 256. */
  readonly weight: number;
}

/** The five octets of a PRIORITY frame's payload, or those that HEADERS may begin with. */
export function readPriority(bytes: Buffer, start: number): Priority {
  return {
    isExclusive: ((bytes[start] as number) & 0x80) !== 0,
    streamDependency: readUint31(bytes, start),
    weight: (bytes[start + 4] as number) + 1,
  };
}

export function loadPriority(
  streamId: number,
  bytes: Buffer,
  start: number,
  end: number,
): Priority {
  if (streamId === 0) throw new ConnectionError(ErrorCode.PROTOCOL_ERROR, 'PRIORITY on stream 0');
  if (end - start !== PRIORITY_OCTETS) {
    throw new StreamError(streamId, ErrorCode.FRAME_SIZE_ERROR, 'PRIORITY is not 5 octets long');
  }
  return readPriority(bytes, start);
}
