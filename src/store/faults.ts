/**
 * What an error of the database means to whoever asked: one classification, by SQLSTATE and by the
 * driver's codes.
 */

export type StoreFault =
  /** The statement's data: the same statement fails again, its neighbours would not. */
  | 'data'
  /** Another transaction was in the way: the same work may succeed at once. */
  | 'conflict'
  /** No connection, no room, shutting down, too slow: it may succeed later. */
  | 'unavailable'
  /** Ours: a wrong statement. */
  | 'bug';

/** Deadlock and serialization failure. */
const CONFLICT = /^(40P01|40001)$/;
/** Data exception, integrity constraint violation. */
const DATA = /^2[23]\w{3}$/;
/**
 * Connection exception, authorization, resources, operator intervention (with statement timeouts),
 * system error; read-only (a standby); ended by the server after too long a silence.
 */
const UNAVAILABLE = /^((08|28|53|57|58)\w{3}|25006|25P03)$/;
/**
 * The driver's own, and those of the socket: ECONNREFUSED, EPIPE. Node's programming errors begin
 * with ERR_.
 */
const CONNECTION = /^(CONNECTION_|CONNECT_TIMEOUT|E(?!RR_))/;

/** Classifies what a statement threw. */
export function faultOf(error: unknown): StoreFault {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code !== 'string') return 'bug';
  if (CONFLICT.test(code)) return 'conflict';
  if (DATA.test(code)) return 'data';
  return UNAVAILABLE.test(code) || CONNECTION.test(code) ? 'unavailable' : 'bug';
}
