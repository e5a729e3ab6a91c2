/** Takes a deleted app out of push jobs; deletes jobs that were for this app only. */

import type { AppDeletion } from '../../catalogue/list-deletions.ts';
import type { SqlPool } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import { NOT_PLANNED } from './ledger/change-state.ts';
import { eraseMany } from './ledger/erase-many.ts';

interface ErasedJobs {
  /** The last job that was looked at; null: there are no more. */
  readonly lastId: string | null;
  /** Jobs that the app is still in: they are under way, and are looked at again. */
  readonly left: number;
}

interface ErasedAtOnce {
  readonly jobs: number;
  /** Condemned devices, of which a single job may have millions, and groups of its reach. */
  readonly rows: number;
}

/**
 * A job that is under way keeps the app until it has ended and is counted by day: its counts belong
 * together. One that is not planned yet will not reach it.
 */
export const eraseFromJobs = (
  sql: SqlPool,
  { appId, clientId }: AppDeletion,
  afterId: string,
  limits: ErasedAtOnce,
): Promise<ErasedJobs> =>
  transact(sql, async (tx) => {
    const [looked] = await tx<{ count: number; lastId: string | null; ids: string[] }[]>`
      with looked as (
        select id from notifications
        where client_id = ${clientId} and id > ${afterId}::uuid order by id limit ${limits.jobs}
      )
      select count(*)::integer as count, max(id::text) as "lastId",
        coalesce(array_agg(id) filter (where exists (
          select from notification_scopes s where s.notification_id = looked.id and s.app_id = ${appId}
        )), '{}') as ids
      from looked`;
    const { count = 0, lastId = null, ids = [] } = looked ?? {};
    const end = count < limits.jobs ? null : lastId;
    if (ids.length === 0) return { lastId: end, left: 0 };
    // In the order of ids, as all who lock several.
    const locked = await tx<{ id: string }[]>`
      select id from notifications
      where id = any (${list(ids)}::uuid[])
        and (
          (
            finished_at is not null and is_end_listed
            and not exists (select from ended_notifications e where e.notification_id = notifications.id)
          )
          or state in ('SCHEDULED', 'QUEUED') or open_chunks = ${NOT_PLANNED}::integer
        )
      order by id for update`;
    const erased = locked.map(({ id }) => id);
    // The next transaction looks at these jobs again.
    if (await eraseMany(tx, erased, appId, limits.rows)) return { lastId: afterId, left: 0 };
    for (const table of ['failure_reasons', 'retries', 'chunks'] as const) {
      await tx`
        delete from ${tx(table)} where notification_id = any (${list(erased)}::uuid[]) and app_id = ${appId}`;
    }
    await tx`
      delete from notification_scopes
      where notification_id = any (${list(erased)}::uuid[]) and app_id = ${appId}`;
    await tx`
      delete from notifications n
      where id = any (${list(erased)}::uuid[])
        and not exists (select from notification_scopes s where s.notification_id = n.id)`;
    return { lastId: end, left: ids.length - erased.length };
  });
