/** Finds clients: one by its slug, or all of them by slug. One that was deleted is listed only. */

import type { Sql } from '../database/sql.ts';

interface ClientRow {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly disabled: boolean;
}

export interface ListedClient extends ClientRow {
  /** Null: it was not deleted. */
  readonly left: {
    readonly apps: number;
    /** Counted up to a million, as the jobs are. */
    readonly devices: number;
    readonly jobs: number;
  } | null;
}

export async function findClient(sql: Sql, slug: string): Promise<ClientRow | null> {
  const [row] = await sql<ClientRow[]>`
    select id, slug, name, disabled_at is not null as disabled from clients
    where slug = ${slug} and deleted_at is null`;
  return row ?? null;
}

/**
 * Rows that are counted of a deleted client: more would take seconds.
 * @limit devices and push jobs of a deleted client that `client list` counts, of each → it says so
 * many
 */
const COUNTED_MAX = 1_000_000;

export const listClients = (sql: Sql): Promise<readonly ListedClient[]> =>
  sql<ListedClient[]>`
    select id, slug, name, disabled_at is not null as disabled,
      case when deleted_at is not null then json_build_object(
        'apps', (select count(*) from app_deletions where client_id = c.id),
        'devices', (
          select count(*) from (
            select from app_deletions a join devices d on d.app_id = a.app_id and d.platform_id = any (a.platform_ids)
            where a.client_id = c.id limit ${COUNTED_MAX}::integer
          ) as counted
        ),
        'jobs', (
          select count(*) from (
            select from notifications where client_id = c.id limit ${COUNTED_MAX}::integer
          ) as counted
        )
      ) end as "left"
    from clients c order by slug`;
