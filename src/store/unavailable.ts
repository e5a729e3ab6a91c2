/** Whether an error means that the store cannot be reached just now: then the answer is "later", not "our fault". */

/** Of the driver and of the socket under it. */
const CONNECTION_CODES: ReadonlySet<string> = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

/**
 * SQLSTATEs that pass by themselves: connection exceptions (08), too many connections and out of memory (53), the
 * server shutting down or starting (57P), a transaction that lost against another (40).
 */
const PASSING_STATE = /^(08...|53...|57P..|40001|40P01)$/;

export const isUnavailable = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  typeof error.code === 'string' &&
  (CONNECTION_CODES.has(error.code) || PASSING_STATE.test(error.code));
