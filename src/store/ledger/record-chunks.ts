/**
 * Records progress on chunks: blocks done, counts, reasons, new retries, condemned devices, the
 * lease. Contract:
 * - runs in a transaction that holds the notifications (lock-notifications.ts), each chunk at most
 *   once in it;
 * - a report counts as a whole if its chunk is still held under its epoch and none of its blocks is
 *   done already; otherwise none of it counts. So a report that is repeated after a COMMIT of
 *   unknown result changes nothing;
 * - a chunk whose 64 blocks are done is deleted, in this same statement; a parked chunk stays, but
 *   is no longer open;
 * - done blocks, or a chunk given back in order, reset the count of claims without progress;
 * - answers for each report, by its position, whether its chunk is lost to another claim. It is not
 *   lost for a repeated report.
 */

import type { ChunkProgress } from '../../domain/progress.ts';
import type { Sql } from '../sql.ts';
import { list } from '../sql.ts';
import { countOf, isGateClosed, verdictsIn } from './condemn.ts';

export interface ChunkStanding {
  readonly position: number;
  /** With this statement. */
  readonly isCounted: boolean;
  /** Its chunk is open no more, with this statement. */
  readonly isClosed: boolean;
  readonly isLost: boolean;
}

export function recordChunks(sql: Sql, reports: readonly ChunkProgress[], leaseMs: number) {
  const retries = reports.flatMap((report, position) =>
    report.retries.map((retry) => ({ ...retry, position })),
  );
  const reasons = reports.flatMap((report, position) =>
    report.reasons.map(([reason, count]) => ({ reason, count, position })),
  );
  const verdicts = reports.flatMap((report, position) =>
    verdictsIn(report).map((verdict) => ({ ...verdict, position })),
  );
  return sql<ChunkStanding[]>`
    with reported as (
      select * from unnest(
        ${reports.map((_, position) => position)}::integer[],
        ${reports.map((report) => report.notificationId)}::uuid[],
        ${reports.map((report) => report.appId)}::integer[],
        ${reports.map((report) => report.platformId)}::smallint[],
        ${reports.map((report) => report.groupNumber)}::integer[],
        ${reports.map((report) => report.epoch)}::integer[],
        ${reports.map((report) => String(report.blocks))}::text[]::bigint[],
        ${reports.map((report) => report.counts.total)}::integer[],
        ${reports.map((report) => report.counts.delivered)}::integer[],
        ${reports.map((report) => report.counts.failed)}::integer[],
        ${reports.map((report) => report.counts.skipped)}::integer[],
        ${reports.map((report) => report.counts.expired)}::integer[],
        ${reports.map((report) => report.counts.cancelled)}::integer[],
        ${reports.map((report) => report.retries.length)}::integer[],
        ${reports.map((report) => report.retries.filter(({ isUncertain }) => isUncertain).length)}::integer[],
        ${reports.map((report) => countOf(report, 'gone'))}::integer[],
        ${reports.map((report) => countOf(report, 'refused'))}::integer[],
        ${reports.map((report) => (report.started === null ? null : String(report.started)))}::text[]::bigint[],
        ${reports.map((report) => report.sentFromMs)}::float8[],
        ${reports.map((report) => report.sentToMs)}::float8[],
        ${reports.map((report) => report.releaseAfterMs)}::float8[],
        ${reports.map((report) => report.failure ?? null)}::text[],
        ${list(reports.map((report) => Number(report.isParked ?? false)))}::integer[]
      ) as r(position, notification_id, app_id, platform_id, group_number, epoch, blocks,
        total, delivered, failed, skipped, expired, cancelled, retries, uncertain, gone, refused, started,
        sent_from, sent_to, release_after, failure, parked)
    ),
    held as (
      select r.*, (c.done_blocks | r.blocks) = -1 as is_complete
      from reported r
      join chunks c using (notification_id, app_id, platform_id, group_number)
      where c.epoch = r.epoch and (c.done_blocks & r.blocks) = 0 and c.parked_at is null
      order by notification_id, app_id, platform_id, group_number
      for update of c
    ),
    continued as (
      update chunks c set
        done_blocks = c.done_blocks | h.blocks,
        started_blocks = coalesce(h.started, c.started_blocks),
        claims_without_progress = case
          when h.failure is null and (h.blocks <> 0 or h.release_after is not null) then 0
          else c.claims_without_progress end,
        last_failure = coalesce(h.failure, c.last_failure),
        parked_at = case when h.parked = 1 then now() end,
        parked_devices = case when h.parked = 1 then h.total end,
        lease_until = case when h.release_after is null and h.parked = 0
          then now() + ${leaseMs}::float8 * interval '1 millisecond' end,
        available_at = case
          when h.parked = 1 then 'infinity'
          when h.release_after is null then c.available_at
          else now() + h.release_after * interval '1 millisecond' end
      from held h
      where not h.is_complete
        and (c.notification_id, c.app_id, c.platform_id, c.group_number)
          = (h.notification_id, h.app_id, h.platform_id, h.group_number)
    ),
    completed as (
      delete from chunks c using held h
      where h.is_complete
        and (c.notification_id, c.app_id, c.platform_id, c.group_number)
          = (h.notification_id, h.app_id, h.platform_id, h.group_number)
    ),
    postponed as (
      insert into retries (notification_id, app_id, platform_id, ordinal, attempts, reason, due_at)
      select h.notification_id, h.app_id, h.platform_id, t.ordinal, t.attempts, t.reason,
        now() + t.due_in * interval '1 millisecond'
      from unnest(
        ${retries.map((retry) => retry.position)}::integer[],
        ${retries.map((retry) => retry.ordinal)}::integer[],
        ${retries.map((retry) => retry.attempts)}::smallint[],
        ${retries.map((retry) => retry.reason)}::text[],
        ${retries.map((retry) => retry.dueInMs)}::float8[]
      ) as t(position, ordinal, attempts, reason, due_in)
      join held h using (position)
    ),
    condemned as (
      insert into condemned_devices
        (notification_id, app_id, platform_id, ordinal, registered_before, is_refusal)
      select h.notification_id, h.app_id, h.platform_id, v.ordinal,
        to_timestamp(v.registered_before / 1000), v.is_refusal = 1
      from unnest(
        ${list(verdicts.map((verdict) => verdict.position))}::integer[],
        ${list(verdicts.map((verdict) => verdict.ordinal))}::integer[],
        ${verdicts.map((verdict) => verdict.registeredBeforeMs)}::float8[],
        ${list(verdicts.map((verdict) => Number(verdict.kind === 'refused')))}::integer[]
      ) as v(position, ordinal, registered_before, is_refusal)
      join held h using (position)
      join notification_scopes s using (notification_id, app_id, platform_id)
      -- Refusals behind a closed gate count for nothing: ten million of them need no rows.
      where v.is_refusal = 0 or not ${isGateClosed(sql)}
      on conflict do nothing
    ),
    counted as (
      update notification_scopes s set
        uncertain = s.uncertain + h.uncertain,
        gone = s.gone + h.gone,
        refused = s.refused + h.refused,
        deletions = case when h.gone + h.refused > 0 then coalesce(s.deletions, 'pending') else s.deletions end,
        total = s.total + h.total,
        delivered = s.delivered + h.delivered,
        failed = s.failed + h.failed,
        skipped = s.skipped + h.skipped,
        expired = s.expired + h.expired,
        cancelled = s.cancelled + h.cancelled
      from (
        select notification_id, app_id, platform_id,
          sum(uncertain) as uncertain, sum(gone) as gone, sum(refused) as refused,
          sum(total) as total, sum(delivered) as delivered, sum(failed) as failed,
          sum(skipped) as skipped, sum(expired) as expired, sum(cancelled) as cancelled
        from held group by notification_id, app_id, platform_id
      ) h
      where (s.notification_id, s.app_id, s.platform_id) = (h.notification_id, h.app_id, h.platform_id)
    ),
    explained as (
      insert into failure_reasons as f (notification_id, app_id, platform_id, reason, count)
      select h.notification_id, h.app_id, h.platform_id, e.reason, sum(e.count)
      from unnest(
        ${reasons.map((entry) => entry.position)}::integer[],
        ${reasons.map((entry) => entry.reason)}::text[],
        ${reasons.map((entry) => entry.count)}::integer[]
      ) as e(position, reason, count)
      join held h using (position)
      group by h.notification_id, h.app_id, h.platform_id, e.reason
      order by h.notification_id, h.app_id, h.platform_id, e.reason
      on conflict (notification_id, app_id, platform_id, reason)
        do update set count = f.count + excluded.count
    )
    select r.position, h.position is not null as "isCounted",
      coalesce(h.is_complete or h.parked = 1, false) as "isClosed",
      h.position is null
        and not coalesce(c.epoch = r.epoch and (c.done_blocks & r.blocks) = r.blocks, false) as "isLost"
    from reported r
    left join held h using (position)
    left join chunks c
      on (c.notification_id, c.app_id, c.platform_id, c.group_number)
        = (r.notification_id, r.app_id, r.platform_id, r.group_number)`;
}
