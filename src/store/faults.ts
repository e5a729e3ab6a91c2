/** What an error of the database means to whoever asked: one classification, by SQLSTATE and by the driver's codes. */

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
const CONFLICTS = new Set(['40P01', '40001']);
/** Connection, resources, operator intervention (with statement timeouts), system error. */
const UNAVAILABLE_CLASSES = new Set(['08', '53', '57', '58']);
/** 25P03: the server ended a transaction whose client had been silent too long. */
const UNAVAILABLE = new Set(['25P03', '25006']);
/** Data exception, integrity constraint violation. */
const DATA_CLASSES = new Set(['22', '23']);
const SQLSTATE = /^[0-9A-Z]{5}$/;

/** Classifies what a statement threw. Errors of the socket and of the driver carry codes that are no SQLSTATE. */
export function faultOf(error: unknown): StoreFault {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code !== 'string') return 'bug';
  if (!SQLSTATE.test(code) || isSocketCode(code)) return 'unavailable';
  if (CONFLICTS.has(code)) return 'conflict';
  if (UNAVAILABLE.has(code) || UNAVAILABLE_CLASSES.has(code.slice(0, 2))) return 'unavailable';
  return DATA_CLASSES.has(code.slice(0, 2)) ? 'data' : 'bug';
}

/** EPIPE has the form of an SQLSTATE; no class of PostgreSQL begins with E. */
const isSocketCode = (code: string): boolean => code.startsWith('E');
