/**
 * Detects that the database itself went back (a backup, a copy, a lagging standby): then the
 * versions of groups, on which a tag index relies, lose their meaning.
 */

import { randomBytes } from 'node:crypto';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';

interface Lineage {
  /** The name of this database in the index. */
  readonly name: string;
  /** The system and timeline on which it was last seen; null: PostgreSQL did not say. */
  readonly identity: string | null;
}

/** Reads the row; makes it if it does not exist. */
export async function readLineage(sql: Sql): Promise<Lineage> {
  const [known] = await sql<Lineage[]>`select name, identity from index_lineage`;
  if (known !== undefined) return known;
  await sql`
    insert into index_lineage (name, identity) values (${newName()}, ${await identityOf(sql)})
    on conflict do nothing`;
  return readLineage(sql);
}

/**
 * If the database is another one, every group gets a version that it never had. A node that starts
 * may have a copy, which others do not see: then the index gets a new name too, or two databases
 * would write into one.
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
 * Begins a new index when this one is ahead of the database: it went back without a trace, or a
 * copy writes into the index. Does nothing when another node was faster.
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
  // Milliseconds since 1970 are beyond every version counted from 1, and beyond earlier ones.
  await tx`
    update device_groups set version = greatest(version, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) + 1`;
}

const newName = (): string => randomBytes(4).toString('hex');

/**
 * Another server has another system identifier, a promoted one another timeline, a restored dump
 * another database or table. Null: this server does not say.
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
