/** The one way to a PostgreSQL: the driver, with the types that the engine reads and writes. */

import postgres from 'postgres';
import type { BackoffPolicy } from '../std/backoff.ts';
import { backoffMs } from '../std/backoff.ts';
import { SettingFault } from '../std/setting-fault.ts';
import { driverOptionsOf, readDatabaseUrl } from './database-url.ts';
import { SESSION_SETTINGS } from './session-settings.ts';

/** The first argument of every statement of the store: the pool, or a transaction of it. */
export type Sql = postgres.ISql<{ bigint: number }>;
export type Fragment = postgres.PendingQuery<postgres.Row[]>;
/** The pool itself: can begin transactions and be closed. */
export type SqlPool = postgres.Sql<{ bigint: number }>;

/** Where the database is: a connection URL, or the Unix socket of the embedded one. */
export type DatabaseAddress =
  | {
      readonly kind: 'postgres';
      readonly url: string;
      /** A pooler in between takes none of ours (find-address.ts). */
      readonly isWithoutSettings?: true;
    }
  | { readonly kind: 'embedded'; readonly socketPath: string };

/** int8 as a number: counts and epoch milliseconds stay far below 2^53. */
const bigint = {
  to: 20,
  from: [20],
  serialize: (value: number) => String(value),
  parse: (text: string) => Number(text),
};

/** @limit wait for statements when closing → cut off */
export const CLOSE_TIMEOUT_SECONDS = 5;
/**
 * The driver's own pause doubles to 20 s.
 * @limit between tries to connect to the database: doubles, up to half longer by chance
 */
const RECONNECT: BackoffPolicy = { baseMs: 10, capMs: 650 };
/** @limit a connection to the database that is taken and not answered → `503` */
const CONNECT_TIMEOUT_SECONDS = 10;

/** `attempt`: 0 is the first. */
const reconnectInSeconds = (attempt: number): number => backoffMs(RECONNECT, attempt + 1) / 1_000;

/** The name of the engine's sessions in PostgreSQL. */
export const APPLICATION_NAME = 'tagcast';

interface Keeping {
  /** Null: they are never replaced for their age. */
  readonly max_lifetime?: null;
  readonly onclose?: () => void;
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
    backoff: reconnectInSeconds,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
  };
  return address.kind === 'postgres'
    ? connectTo(address, options)
    : postgres({ ...options, path: address.socketPath, user: 'postgres', database: 'postgres' });
}

function connectTo(
  { url, isWithoutSettings }: DatabaseAddress & { readonly kind: 'postgres' },
  options: postgres.Options<{ bigint: typeof bigint }>,
): SqlPool {
  const read = readDatabaseUrl(url);
  if (!read.ok) throw new SettingFault(`DATABASE_URL ${read.fault}.`);
  return postgres({
    ...options,
    ...driverOptionsOf(read.place),
    connection: {
      ...read.place.settings,
      application_name: APPLICATION_NAME,
      ...(isWithoutSettings === true ? {} : SESSION_SETTINGS),
    },
  });
}

/** For `${list(…)}::integer[]`: the driver would check and escape each element. */
export const list = (values: readonly (number | string)[]): string => `{${values.join(',')}}`;

/** Texts likewise, for `::text[]`. The driver would check each element three times. */
export const textList = (values: readonly string[]): string => `{${values.map(quoted).join(',')}}`;

const SPECIAL = /["\\]/;
const EACH_SPECIAL = /["\\]/g;

export const quoted = (value: string): string =>
  SPECIAL.test(value) ? `"${value.replace(EACH_SPECIAL, '\\$&')}"` : `"${value}"`;
