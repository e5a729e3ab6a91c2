/**
 * Which line of history the database is on. An index beside it goes by versions of groups, and these mean nothing any more when
 * the database itself went back: restored from a backup, copied, or promoted from a standby that had not got everything.
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
 * Looks whether the database is another one than before. Then every group gets a version that it never had, which makes
 * everything stale that an index holds; and when it is not certain that the others saw the same database (a node that starts may have been given a copy)
 * the index a new name too, or two databases would write into one.
 */
export async function keepLineage(
  sql: SqlPool,
  { isStarting }: { readonly isStarting: boolean },
): Promise<{ readonly lineage: Lineage; readonly isRenewed: boolean }> {
  const [lineage, identity] = await Promise.all([readLineage(sql), identityOf(sql)]);
  if (identity === null || identity === lineage.identity) return { lineage, isRenewed: false };
  return transact(sql, async (tx) => {
    const [locked] = await tx<Lineage[]>`select name, identity from index_lineage for update`;
    if (locked === undefined || locked.identity === identity) {
      return { lineage: locked ?? lineage, isRenewed: false };
    }
    const renewed = { name: isStarting ? newName() : locked.name, identity };
    await tx`update index_lineage set name = ${renewed.name}, identity = ${identity}`;
    // Milliseconds since 1970 are beyond every version that was counted up from 1, and beyond those of an earlier renewal.
    await tx`
      update device_groups set version = greatest(version, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) + 1`;
    return { lineage: renewed, isRenewed: true };
  });
}

const newName = (): string => randomBytes(4).toString('hex');

/** A restored dump has another system identifier, a restored or promoted server another timeline. Null: this one tells neither. */
async function identityOf(sql: Sql): Promise<string | null> {
  try {
    const [row] = await sql<{ identity: string }[]>`
      select (select system_identifier from pg_control_system())::text || '.'
        || left(pg_walfile_name(pg_current_wal_lsn()), 8) as identity`;
    return row?.identity ?? null;
  } catch {
    return null;
  }
}
