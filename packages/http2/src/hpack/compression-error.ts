/**
 * The error for a fault in a field block. It puts the tables out of step, so it ends the connection
 * (RFC 9113, 4.3).
 */

import { ConnectionError, ErrorCode } from '../error.ts';

export const compressionError = (message: string): ConnectionError =>
  new ConnectionError(ErrorCode.COMPRESSION_ERROR, `HPACK: ${message}`);
