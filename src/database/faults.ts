/** Classifies errors of the database, by SQLSTATE and the driver's codes, for the caller. */

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
/** The driver's own codes, and those of a socket that has no peer, or no longer has one. */
const CONNECTION =
  /^(CONNECTION_\w+|CONNECT_TIMEOUT|ECONN(REFUSED|RESET|ABORTED)|EPIPE|E(HOST|NET)(DOWN|UNREACH)|ETIMEDOUT|ENOTFOUND|EAI_\w+)$/;
/** Calls that only a new connection makes: ENOENT (no socket), EMFILE (no descriptor left). */
const CALLS_OF_CONNECTIONS = /^(connect|getaddrinfo)$/;

/** Classifies an error that a statement threw. */
export function faultOf(error: unknown): StoreFault {
  if (!(error instanceof Error && 'code' in error)) return 'bug';
  const { code } = error;
  if (typeof code !== 'string') return 'bug';
  if (CONFLICT.test(code)) return 'conflict';
  if (DATA.test(code)) return 'data';
  if (UNAVAILABLE.test(code) || CONNECTION.test(code)) return 'unavailable';
  const call = 'syscall' in error ? String(error.syscall) : '';
  return CALLS_OF_CONNECTIONS.test(call) ? 'unavailable' : 'bug';
}

/** SQLSTATE lock_not_available: the session's `lock_timeout` has passed. */
export const isLockTimeout = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '55P03';
