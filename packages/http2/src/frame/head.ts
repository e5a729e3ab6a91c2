/**
 * The nine octets before every frame's payload (RFC 9113, 4.1), the frame types and their flags
 * (6).
 */

export const FrameType = Object.freeze({
  DATA: 0x0,
  HEADERS: 0x1,
  PRIORITY: 0x2,
  RST_STREAM: 0x3,
  SETTINGS: 0x4,
  PUSH_PROMISE: 0x5,
  PING: 0x6,
  GOAWAY: 0x7,
  WINDOW_UPDATE: 0x8,
  CONTINUATION: 0x9,
});

/** The meaning of a flag depends on the type; `END_STREAM` and `ACK` are the same bit. */
export const Flag = Object.freeze({
  NONE: 0x0,
  END_STREAM: 0x1,
  ACK: 0x1,
  END_HEADERS: 0x4,
  PADDED: 0x8,
  PRIORITY: 0x20,
});

export const FRAME_HEAD_OCTETS = 9;

interface FrameHead {
  readonly length: number;
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
}

/** Writes a frame's head; returns the offset after it. */
export function writeFrameHead(into: Buffer, offset: number, head: FrameHead): number {
  const { length, type, flags, streamId } = head;
  writeLength(into, offset, length);
  into[offset + 3] = type;
  into[offset + 4] = flags;
  writeStreamId(into, offset, streamId);
  return offset + FRAME_HEAD_OCTETS;
}

/** Writes the length into a head that begins at `offset`. */
export function writeLength(into: Buffer, offset: number, length: number): void {
  into[offset] = length >>> 16;
  into[offset + 1] = length >>> 8;
  into[offset + 2] = length;
}

/** Writes the stream identifier into a head that begins at `offset`. */
export function writeStreamId(into: Buffer, offset: number, streamId: number): void {
  into[offset + 5] = streamId >>> 24;
  into[offset + 6] = streamId >>> 16;
  into[offset + 7] = streamId >>> 8;
  into[offset + 8] = streamId;
}

/** Four octets in network order. */
export function readUint32(bytes: Buffer, offset: number): number {
  return (
    (bytes[offset] as number) * 0x100_0000 +
    (((bytes[offset + 1] as number) << 16) |
      ((bytes[offset + 2] as number) << 8) |
      (bytes[offset + 3] as number))
  );
}

/**
 * Four octets in network order without the reserved bit: a stream identifier or a window increment.
 */
export function readUint31(bytes: Buffer, offset: number): number {
  return (
    (((bytes[offset] as number) & 0x7f) << 24) |
    ((bytes[offset + 1] as number) << 16) |
    ((bytes[offset + 2] as number) << 8) |
    (bytes[offset + 3] as number)
  );
}
