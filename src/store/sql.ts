/** The one way to a PostgreSQL, embedded or real: the driver with the types that this project reads and writes. */

import postgres from 'postgres';

/** What every statement of the store is given: the pool or a transaction of it. */
export type Sql = postgres.ISql<{ bigint: number }>;
/** The pool itself: can begin transactions and be closed. */
export type SqlPool = postgres.Sql<{ bigint: number }>;

/** Where the database is: a connection URL, or the Unix socket of the embedded one. */
export type DatabaseAddress =
  | { readonly kind: 'postgres'; readonly url: string }
  | { readonly kind: 'embedded'; readonly socketPath: string };

/** int8 as a number: our counts and epoch milliseconds stay far below 2^53. */
const bigint = {
  to: 20,
  from: [20],
  serialize: (value: number) => String(value),
  parse: (text: string) => Number(text),
};

/** How long closing waits for statements under way. */
export const CLOSE_TIMEOUT_SECONDS = 5;
/** What PostgreSQL calls our sessions. */
export const APPLICATION_NAME = 'tagcast';

/** How a connection is kept, where the driver's own way will not do. */
export interface Keeping {
  /** Null: it is never replaced for its age. */
  readonly max_lifetime?: null;
  /** Seconds between a connection that broke and the next. */
  readonly backoff?: () => number;
}

/** Opens a pool of at most `connectionsMax` connections; connects lazily. */
export function connect(
  address: DatabaseAddress,
  connectionsMax: number,
  keeping: Keeping = {},
): SqlPool {
  const options: postgres.Options<{ bigint: typeof bigint }> = {
    ...keeping,
    max: connectionsMax,
    types: { bigint },
    onnotice: () => undefined,
  };
  return address.kind === 'postgres'
    ? postgres(address.url, { ...options, connection: { application_name: APPLICATION_NAME } })
    : postgres({ ...options, path: address.socketPath, user: 'postgres', database: 'postgres' });
}

/**
 * Numbers or uuids as the text of a PostgreSQL array, for `${list(…)}::int[]`: the driver would look at each element and
 * escape it, and these need none.
 */
export const list = (values: readonly (number | string)[]): string => `{${values.join(',')}}`;

/** Texts, or nulls, likewise for `::text[]`. The driver's own way looks at each element three times. */
export const textList = (values: readonly (string | null)[]): string =>
  `{${values.map((value) => (value === null ? 'NULL' : quoted(value))).join(',')}}`;

const SPECIAL = /["\\]/;
const EACH_SPECIAL = /["\\]/g;

const quoted = (value: string): string =>
  SPECIAL.test(value) ? `"${value.replace(EACH_SPECIAL, '\\$&')}"` : `"${value}"`;
