/**
 * Settles retries: ended ones are counted and deleted (or kept, if parked), the others are due
 * again. Contract:
 * - runs in a transaction that holds the notifications (lock-notifications.ts);
 * - a settlement counts only if its row is held under its epoch, so a repeated one changes nothing;
 * - a row is written where it was locked: any other writer of it takes its epoch or lease from it.
 */

import { NOTIFICATION_SCOPE } from '../../../database/columns.ts';
import { boolean, float8, integer, rowsOf, smallint, text } from '../../../database/rows.ts';
import type { Sql } from '../../../database/sql.ts';
import type { NotificationScope } from '../../../domain/notification.ts';
import type { RetryProgress, RetrySettlement } from '../../../domain/progress.ts';
import { addCounts, addReasons } from './add-counts.ts';
import type { EraseReason } from './condemn.ts';
import { deletionGateHolds, eraseReasonsIn } from './condemn.ts';
import { keepReach } from './keep-reach.ts';
import { isScopeOf } from './scope-of.ts';

/** Retries of a notification that have ended for good with this statement. */
interface EndedRetries {
  readonly notificationId: string;
  readonly ended: number;
}

export function recordRetries(sql: Sql, reports: readonly RetryProgress[]) {
  return sql<EndedRetries[]>`
    with reported as (
      select * from ${settled(sql, settlementsIn(reports))}
      order by notification_id, app_id, platform_id, ordinal
    ),
    held as (
      select r.*, q.place, not q.is_reached and (r.is_reached or q.is_doubted) as is_newly_reached
      from reported r
      -- Only the primary key has this order: else retries_due seems as good to a plan for an empty
      -- table (PLANS_ARE_KEPT), and has all retries of the scope for each.
      cross join lateral (
        select ctid as place, coalesce(is_reached, false) as is_reached,
          coalesce(is_doubted, false) as is_doubted
        from retries
        where (notification_id, app_id, platform_id) = (r.notification_id, r.app_id, r.platform_id)
          and ordinal between r.ordinal and r.ordinal
          and epoch = r.epoch and lease_until is not null
        order by ordinal limit 1
        for update
      ) q
    ),
    ended as (
      delete from retries q using held h
      where h.ending is not null and not h.is_parked and q.ctid = h.place
    ),
    parked as (
      update retries q set
        parked_at = now(),
        due_at = 'infinity',
        lease_until = null,
        is_reached = case when h.is_newly_reached then true else q.is_reached end
      from held h
      where h.ending is not null and h.is_parked and q.ctid = h.place
    ),
    postponed as (
      update retries q set
        attempts = h.attempts,
        reason = coalesce(h.reason, q.reason),
        due_at = now() + h.due_in_ms * interval '1 millisecond',
        lease_until = null,
        is_reached = case when h.is_newly_reached then true else q.is_reached end,
        claims_without_progress = case when h.failure is null then 0 else q.claims_without_progress end,
        last_failure = coalesce(h.failure, q.last_failure)
      from held h
      where h.ending is null and q.ctid = h.place
    ),
    condemned as (
      insert into condemned_devices
        (notification_id, app_id, platform_id, ordinal, registered_before, is_refusal)
      select h.notification_id, h.app_id, h.platform_id, h.ordinal,
        to_timestamp(h.registered_before_ms / 1000), h.erase_reason = 'refused'
      from held h
      join notification_scopes s on ${isScopeOf(sql)}
      where h.erase_reason = 'gone' or (h.erase_reason = 'refused' and not ${deletionGateHolds(sql)})
      on conflict do nothing
    ),
    kept as (
      ${keepReach(sql, newlyReached(sql))}
    ),
    counted as (
      ${addCounts(sql, sums(sql))}
    ),
    explained as (
      ${addReasons(sql, reasonSums(sql))}
    )
    select notification_id as "notificationId", count(*)::integer as ended
    from held where ending is not null
    group by notification_id`;
}

const sums = (sql: Sql) => sql`
  select notification_id, app_id, platform_id,
    count(*) filter (where is_uncertain) as uncertain,
    count(*) filter (where erase_reason = 'gone') as gone,
    count(*) filter (where erase_reason = 'refused') as refused,
    -- Their chunks have counted them.
    0 as total,
    count(*) filter (where ending = 'delivered') as delivered,
    count(*) filter (where ending = 'failed') as failed,
    count(*) filter (where ending = 'skipped') as skipped,
    count(*) filter (where ending = 'expired') as expired,
    count(*) filter (where ending = 'cancelled') as cancelled,
    count(*) filter (where is_newly_reached) as reached, min(ordinal) / 8192 as group_number,
    ${wordsOf(sql)} filter (where is_newly_reached and is_reached_in_scope) as reach_words
  from held group by notification_id, app_id, platform_id`;

const reasonSums = (sql: Sql) => sql`
  select notification_id, app_id, platform_id, reason, count(*) from held
  where ending = 'failed' and reason is not null
  group by notification_id, app_id, platform_id, reason
  order by notification_id, app_id, platform_id, reason`;

const newlyReached = (sql: Sql) => sql`
  select notification_id, app_id, platform_id, ordinal / 8192, ${wordsOf(sql)}
  from held where is_newly_reached and not is_reached_in_scope
  group by notification_id, app_id, platform_id, ordinal / 8192`;

/** A word for each: its offset in its group (push/worker/chunk/reach.ts). */
const wordsOf = (sql: Sql) => sql`string_agg(int2send((ordinal % 8192)::smallint), ''::bytea)`;

/** One device's, with what its report says of all of them. */
interface Settlement extends RetrySettlement, NotificationScope {
  readonly eraseReason: EraseReason | null;
  readonly failure: string | null;
  readonly isParked: boolean;
  readonly isReachedInScope: boolean;
}

const settlementsIn = (reports: readonly RetryProgress[]): readonly Settlement[] =>
  reports.flatMap((report) => {
    const { notificationId, appId, platformId, failure = null, isReachedInScope = false } = report;
    const eraseReasons = new Map(
      eraseReasonsIn(report).map((eraseReason) => [eraseReason.ordinal, eraseReason]),
    );
    return report.settlements.map((settlement) => {
      const eraseReason = eraseReasons.get(settlement.ordinal) ?? null;
      const isParked = report.isParked === true && settlement.ending === 'failed';
      const scope = { notificationId, appId, platformId };
      return { ...scope, ...settlement, eraseReason, failure, isParked, isReachedInScope };
    });
  });

const settled = rowsOf<Settlement>('settled', {
  ...NOTIFICATION_SCOPE,
  ordinal: integer(({ ordinal }) => ordinal),
  epoch: integer(({ epoch }) => epoch),
  ending: text(({ ending }) => ending),
  reason: text(({ reason }) => reason),
  attempts: smallint(({ attempts }) => attempts),
  due_in_ms: float8(({ dueInMs }) => dueInMs),
  is_uncertain: boolean(({ isUncertain }) => isUncertain),
  is_reached: boolean(({ isReached }) => isReached),
  is_reached_in_scope: boolean(({ isReachedInScope }) => isReachedInScope),
  erase_reason: text(({ eraseReason }) => eraseReason?.kind ?? null),
  registered_before_ms: float8(({ eraseReason }) => eraseReason?.registeredBeforeMs ?? null),
  failure: text(({ failure }) => failure),
  is_parked: boolean(({ isParked }) => isParked),
});
