/**
 * Counts the devices of an app that have a tag, and corrects what tag_days says of them. Later
 * changes are counted with the devices they change, so this is needed only where that was not so:
 * before the migration, and by nodes of the version before, which may go on for a while.
 */

import { name as MIGRATION } from '../../database/migrations/0016-statistics.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import { ANY_TAG } from '../record-changes.ts';

/**
 * A day after the migration all of them are counted a second time: by then the last node of the
 * version before has been replaced.
 * @limit hours since the migration after which subscribers are counted a second time
 */
const ROLLING_UPGRADE_HOURS = 24;
/**
 * Counting ten million devices takes some ten seconds, or a minute on a busy disk.
 * @limit the count of the subscribers of an (app, platform) → the next run
 */
const RECOUNT_MS_MAX = 600_000;
/** Any number that no other lock uses. Two counts at once would correct twice. */
const RECOUNT_LOCK = 7_461_672;

interface DueScope {
  readonly appId: number;
  readonly platformId: number;
}

/** Counts one (app, platform) that is due. False: none is, or another node is counting. */
export const recountSubscribers = (sql: SqlPool): Promise<boolean> =>
  transact(sql, async (tx) => {
    const [lock] = await tx<{ isHeld: boolean }[]>`
      select pg_try_advisory_xact_lock(${RECOUNT_LOCK}) as "isHeld"`;
    if (lock?.isHeld !== true) return false;
    const [due] = await dueScope(tx);
    if (due === undefined) return false;
    await tx`select set_config('statement_timeout', ${String(RECOUNT_MS_MAX)}, true)`;
    await correct(tx, due);
    await tx`
      update app_platforms set subscribers_counted_at = now()
      where app_id = ${due.appId} and platform_id = ${due.platformId}`;
    return true;
  });

const dueScope = (tx: Sql) => tx<DueScope[]>`
  select p.app_id as "appId", p.platform_id as "platformId"
  from app_platforms p
  cross join (
    select applied_at + ${ROLLING_UPGRADE_HOURS}::integer * interval '1 hour' as at
    from migrations where name = ${MIGRATION}
  ) second
  where p.subscribers_counted_at is null
    or (p.subscribers_counted_at < second.at and now() >= second.at)
  order by p.app_id, p.platform_id
  limit 1`;

/** One snapshot: it has the devices and the counts of each commit, or neither. */
const correct = (tx: Sql, { appId, platformId }: DueScope) => tx`
  insert into tag_days (tag_id, app_id, platform_id, day, slot, subscribed, unsubscribed)
  select ${ANY_TAG}::integer, ${appId}::integer, ${platformId}::smallint, '-infinity', 0,
    greatest(missing, 0), greatest(-missing, 0)
  from (
    select (
      select count(*) from devices
      where app_id = ${appId} and platform_id = ${platformId} and tag_ids <> '{}'
    ) - (
      select coalesce(sum(subscribed - unsubscribed), 0) from tag_days
      where tag_id = ${ANY_TAG} and app_id = ${appId} and platform_id = ${platformId}
    ) as missing
  ) as compared
  where missing <> 0
  on conflict (tag_id, app_id, platform_id, day, slot) do update set
    subscribed = tag_days.subscribed + excluded.subscribed,
    unsubscribed = tag_days.unsubscribed + excluded.unsubscribed`;
