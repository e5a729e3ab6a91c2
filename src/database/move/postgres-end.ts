/** A PostgreSQL as an end of a move. */

import type { Readable } from 'node:stream';
import { SettingFault } from '../../std/setting-fault.ts';
import { isLockTimeout } from '../faults.ts';
import type { DatabaseAddress, Sql } from '../sql.ts';
import { connect } from '../sql.ts';
import type { End } from './end.ts';
import { asArray, SETTINGS } from './end.ts';

/** The transaction has ended, and nothing waits. */
const CLOSE_TIMEOUT_SECONDS = 1;

interface OnPostgres {
  readonly address: DatabaseAddress;
  readonly setting: string;
  /** How the transaction is. */
  readonly mode: string;
}

/** Runs `work` in a transaction, which is rolled back when it fails, or the process ends. */
export async function onPostgres<Result>(
  { address, setting, mode }: OnPostgres,
  work: (end: End, tx: Sql) => Promise<Result>,
): Promise<Result> {
  // Replaced for its age, a connection would take its transaction with it.
  const sql = connect(address, 1, { max_lifetime: null });
  try {
    const results = await sql.begin(mode, async (tx) => {
      await tx.unsafe(SETTINGS).simple();
      return [await work(endOf(tx, setting), tx)];
    });
    return results[0] as Result;
  } catch (error) {
    throw isLockTimeout(error) ? lockedFault(setting, error) : error;
  } finally {
    await sql.end({ timeout: CLOSE_TIMEOUT_SECONDS });
  }
}

const lockedFault = (setting: string, cause: unknown): SettingFault =>
  new SettingFault(
    `${setting}: something else holds a lock on its tables, as an engine that starts, a dump or a transaction that is left open does (pg_locks shows which): nothing was moved. Run it again when that has ended.`,
    { cause },
  );

const endOf = (tx: Sql, setting: string): End => ({
  setting,
  async read<Row>(query: string) {
    const [found] = await tx.unsafe<{ rows: readonly Row[] }[]>(asArray(query));
    return found?.rows ?? [];
  },
  async run(statements) {
    await tx.unsafe(statements).simple();
  },
  async copyOut(query) {
    return collect(await tx.unsafe(`copy (${query}) to stdout (format binary)`).readable());
  },
  copyIn: (into, rows) => copyIn(tx, `copy ${into} from stdin (format binary)`, rows),
});

/**
 * The driver pauses its socket when the stream is full, and goes on when the stream asks for more,
 * which one that has ended does not do: then the next statement would wait for ever.
 */
async function collect(stream: Readable): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  stream._read(0);
  return Buffer.concat(parts);
}

/**
 * The driver reports the error of a COPY that has got all of its rows to the statement, which has
 * resolved with the stream long before: so its `reject` is taken over.
 */
async function copyIn(tx: Sql, statement: string, rows: Uint8Array): Promise<void> {
  const query = tx.unsafe(statement) as ReturnType<Sql['unsafe']> & {
    reject: (error: unknown) => void;
  };
  const stream = await query.writable();
  await new Promise<void>((resolve, reject) => {
    query.reject = reject;
    stream.once('error', reject);
    stream.end(rows, () => resolve());
  });
}
