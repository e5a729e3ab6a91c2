/**
 * The error codes of RFC 9113, 7, and the two kinds of error that 5.4 knows: of a connection and of
 * a stream.
 */

/** RFC 9113, 7. */
export const ErrorCode = Object.freeze({
  NO_ERROR: 0x0,
  PROTOCOL_ERROR: 0x1,
  INTERNAL_ERROR: 0x2,
  FLOW_CONTROL_ERROR: 0x3,
  SETTINGS_TIMEOUT: 0x4,
  STREAM_CLOSED: 0x5,
  FRAME_SIZE_ERROR: 0x6,
  REFUSED_STREAM: 0x7,
  CANCEL: 0x8,
  COMPRESSION_ERROR: 0x9,
  CONNECT_ERROR: 0xa,
  ENHANCE_YOUR_CALM: 0xb,
  INADEQUATE_SECURITY: 0xc,
  HTTP_1_1_REQUIRED: 0xd,
});

/** The RFC's name of a code; unknown codes are legal (7) and shown as a number. */
export function errorCodeName(code: number): string {
  for (const [name, value] of Object.entries(ErrorCode)) if (value === code) return name;
  return `0x${code.toString(16)}`;
}

/**
 * The peer broke a rule that ends the connection (5.4.1): it gets GOAWAY, and the socket is closed.
 */
export class ConnectionError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'ConnectionError';
    this.code = code;
  }
}

/** The peer broke a rule that ends one stream only (5.4.2): it gets RST_STREAM. */
export class StreamError extends Error {
  readonly streamId: number;
  readonly code: number;

  constructor(streamId: number, code: number, message: string) {
    super(message);
    this.name = 'StreamError';
    this.streamId = streamId;
    this.code = code;
  }
}
