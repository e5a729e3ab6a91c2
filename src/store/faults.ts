/**
 * Classifies the errors of the database by what they mean to the caller: by SQLSTATE, and by the
 * codes of the driver.
 */

export type StoreFault =
  /** The statement's data: the same statement fails again, its neighbours would not. */
  | 'data'
  /** Another transaction was in the way: the same work may succeed at once. */
  | 'conflict'
  /** No connection, no room, shutting down, too slow: it may succeed later. */
  | 'unavailable'
  /** A fault of the engine: a wrong statement. */
  | 'bug';

/** Deadlock and serialization failure. */
const CONFLICT = /^(40P01|40001)$/;
/** Data exception, integrity constraint violation. */
const DATA = /^2[23]\w{3}$/;
/**
 * Connection exception, authorization, resources, operator intervention (with statement timeouts),
 * system error; read-only (a standby); a transaction that the server ended for its long silence.
 */
const UNAVAILABLE = /^((08|28|53|57|58)\w{3}|25006|25P03)$/;
/**
 * The driver's own codes, and those of the socket: ECONNREFUSED, EPIPE. Node's programming errors
 * begin with ERR_.
 */
const CONNECTION = /^(CONNECTION_|CONNECT_TIMEOUT|E(?!RR_))/;

/** Classifies an error that a statement threw. */
export function faultOf(error: unknown): StoreFault {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code !== 'string') return 'bug';
  if (CONFLICT.test(code)) return 'conflict';
  if (DATA.test(code)) return 'data';
  return UNAVAILABLE.test(code) || CONNECTION.test(code) ? 'unavailable' : 'bug';
}
