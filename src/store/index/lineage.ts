/**
 * Which line of history the database is on. An index beside it goes by versions of groups, and
 * these mean nothing any more when the database itself went back: restored from a backup, copied,
 * or promoted from a standby that had not got everything.
 */

import { randomBytes } from 'node:crypto';
import type { Sql, SqlPool } from '../sql.ts';
import { transact } from '../transact.ts';

export interface Lineage {
  /** What the index calls this database. */
  readonly name: string;
  /** The system and timeline that it was seen on last; null: PostgreSQL would not say. */
  readonly identity: string | null;
}

/** The row, made when there is none. */
export async function readLineage(sql: Sql): Promise<Lineage> {
  const [known] = await sql<Lineage[]>`select name, identity from index_lineage`;
  if (known !== undefined) return known;
  await sql`
    insert into index_lineage (name, identity) values (${newName()}, ${await identityOf(sql)})
    on conflict do nothing`;
  return readLineage(sql);
}

/**
 * Looks whether the database is another one than before. Then every group gets a version that it
 * never had, which makes everything stale that an index holds; and when it is not certain that the
 * others saw the same database (a node that starts may have been given a copy) the index a new name
 * too, or two databases would write into one.
 */
export async function keepLineage(
  sql: SqlPool,
  { isStarting }: { readonly isStarting: boolean },
): Promise<{ readonly lineage: Lineage; readonly isRenewed: boolean }> {
  const [lineage, identity] = await Promise.all([readLineage(sql), identityOf(sql)]);
  if (identity === null || identity === lineage.identity) return { lineage, isRenewed: false };
  return transact(sql, async (tx) => {
    const locked = await lockLineage(tx);
    if (locked === undefined || locked.identity === identity) {
      return { lineage: locked ?? lineage, isRenewed: false };
    }
    const renewed = { name: isStarting ? newName() : locked.name, identity };
    await renew(tx, renewed);
    return { lineage: renewed, isRenewed: true };
  });
}

/**
 * The index of this name knows what this database does not: it went back without a trace (a disk's
 * snapshot), or another one that was copied from it writes there too. So it begins a new index.
 * Nothing happens when somebody was faster.
 */
export const leaveIndex = (sql: SqlPool, name: string): Promise<boolean> =>
  transact(sql, async (tx) => {
    const locked = await lockLineage(tx);
    if (locked?.name !== name) return false;
    await renew(tx, { ...locked, name: newName() });
    return true;
  });

async function lockLineage(tx: Sql): Promise<Lineage | undefined> {
  const [locked] = await tx<Lineage[]>`select name, identity from index_lineage for update`;
  return locked;
}

async function renew(tx: Sql, { name, identity }: Lineage): Promise<void> {
  await tx`update index_lineage set name = ${name}, identity = ${identity}`;
  // Milliseconds since 1970 are beyond every version that was counted up from 1, and beyond those
  // of an earlier renewal.
  await tx`
    update device_groups set version = greatest(version, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) + 1`;
}

const newName = (): string => randomBytes(4).toString('hex');

/**
 * A server that was made anew has another system identifier, a restored or promoted one another
 * timeline; a dump that was restored into the same server has another database, or a table made
 * anew. Null: this one does not tell.
 */
async function identityOf(sql: Sql): Promise<string | null> {
  try {
    const [row] = await sql<{ identity: string }[]>`
      select (select system_identifier from pg_control_system())::text || '.'
        || left(pg_walfile_name(pg_current_wal_lsn()), 8) || '.'
        || (select oid from pg_database where datname = current_database())::text || '.'
        || pg_relation_filenode('device_groups')::text as identity`;
    return row?.identity ?? null;
  } catch {
    return null;
  }
}
