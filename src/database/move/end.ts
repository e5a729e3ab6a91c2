/**
 * One end of a move: a database within a transaction of its own. The embedded one and a PostgreSQL
 * look alike through it, so that rows are moved both ways by the same code.
 */

export interface End {
  /** The setting that names it, for faults. */
  readonly setting: string;
  /** The rows of a query. Numbers beyond 2^53 have to be selected as text. */
  read<Row>(query: string): Promise<readonly Row[]>;
  /** Runs statements that answer nothing. */
  run(statements: string): Promise<void>;
  /** The rows of a query in COPY's binary form, which is the same on all machines. */
  copyOut(query: string): Promise<Uint8Array>;
  /** Adds such rows to a table, which is named with its columns. */
  copyIn(into: string, rows: Uint8Array): Promise<void>;
}

/** One snapshot, in which nothing can be changed. */
export const READING = 'isolation level repeatable read read only';
export const WRITING = 'isolation level read committed';

/** @limit `store move` waits for a lock on tables → it ends with a sentence */
const LOCK_MS_MAX = 10_000;

/**
 * Texts of values must be the same on both ends, to be compared. A table may take minutes, whatever
 * the database's own settings allow.
 */
export const SETTINGS = `
  set local timezone = 'UTC';
  set local datestyle = 'ISO, MDY';
  set local bytea_output = 'hex';
  set local extra_float_digits = 1;
  set local statement_timeout = 0;
  set local idle_in_transaction_session_timeout = 0;
  set local lock_timeout = ${LOCK_MS_MAX}`;

/** A query with its rows as one array: both drivers read JSON alike. */
export const asArray = (query: string): string =>
  `select coalesce(json_agg(found), '[]') as rows from (${query}) as found`;
