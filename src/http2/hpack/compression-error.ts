/**
 * What a fault of a field block is: the tables are out of step from there on, so it ends the
 * connection (RFC 9113, 4.3).
 */

import { ConnectionError, ErrorCode } from '../error.ts';

export const compressionError = (message: string): ConnectionError =>
  new ConnectionError(ErrorCode.COMPRESSION_ERROR, `HPACK: ${message}`);
