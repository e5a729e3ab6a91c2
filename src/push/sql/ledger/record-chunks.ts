/**
 * Records progress on chunks. Contract:
 * - runs in a transaction that holds the notifications (lock-notifications.ts), each chunk once;
 * - a report counts as a whole if its chunk is held under its epoch and none of its blocks is done;
 *   else none of it counts, so it may be repeated;
 * - a chunk whose 64 blocks are done is deleted; a parked one stays, but is no longer open;
 * - the reach of its blocks goes with it, and to push_reach when it is deleted (decision 74);
 * - begun blocks replace those reported before, and are only shown;
 * - done blocks, or a chunk given back in order, reset the count of claims without progress;
 * - answers for each report, by position, whether its chunk is lost to another claim.
 */

import { NOTIFICATION_SCOPE } from '../../../database/columns.ts';
import type { Columns } from '../../../database/rows.ts';
import {
  bigint,
  boolean,
  float8,
  integer,
  integers,
  octets,
  rowsOf,
  smallint,
  text,
} from '../../../database/rows.ts';
import type { Sql } from '../../../database/sql.ts';
import type { ChunkProgress, NewRetry } from '../../../domain/progress.ts';
import { addCounts, addReasons } from './add-counts.ts';
import { begunOf } from './begun-counts.ts';
import type { EraseReason } from './condemn.ts';
import { countOf, deletionGateHolds, eraseReasonsIn } from './condemn.ts';
import { keepReach } from './keep-reach.ts';
import { isScopeOf } from './scope-of.ts';

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
  const eraseReasons = reports.flatMap((report, position) =>
    eraseReasonsIn(report).map((eraseReason) => ({ ...eraseReason, position })),
  );
  const reasons = reports.flatMap((report, position) =>
    report.reasons.map(([reason, count]) => ({ position, reason, count })),
  );
  return sql<ChunkStanding[]>`
    with reported as (
      select * from ${reported(sql, reports)}
    ),
    held as (
      select r.*, (c.done_blocks | r.blocks) = -1 as is_complete
      from reported r
      join chunks c on ${isChunkOf(sql, 'r')}
      where c.epoch = r.epoch and (c.done_blocks & r.blocks) = 0 and c.parked_at is null
      order by r.notification_id, r.app_id, r.platform_id, r.group_number
      for update of c
    ),
    continued as (
      ${continueChunks(sql, leaseMs)}
    ),
    completed as (
      ${deleteDone(sql)}
    ),
    kept as (
      ${keepReach(sql, reachOfDone(sql))}
    ),
    postponed as (
      insert into retries
        (notification_id, app_id, platform_id, ordinal, attempts, reason, due_at, is_reached)
      select h.notification_id, h.app_id, h.platform_id, retry.ordinal, retry.attempts, retry.reason,
        now() + retry.due_in_ms * interval '1 millisecond',
        case when retry.is_uncertain or h.is_doubted then true end
      from ${postponed(sql, retries)}
      join held h using (position)
    ),
    condemned as (
      insert into condemned_devices
        (notification_id, app_id, platform_id, ordinal, registered_before, is_refusal)
      select h.notification_id, h.app_id, h.platform_id, erase_reason.ordinal,
        to_timestamp(erase_reason.registered_before_ms / 1000), erase_reason.is_refusal
      from ${condemned(sql, eraseReasons)}
      join held h using (position)
      join notification_scopes s on ${isScopeOf(sql)}
      -- Refusals behind a gate that holds count for nothing: ten million of them need no rows.
      where not erase_reason.is_refusal or not ${deletionGateHolds(sql)}
      on conflict do nothing
    ),
    counted as (
      ${addCounts(sql, sums(sql))}
    ),
    explained as (
      ${addReasons(sql, reasonSums(sql, reasons))}
    )
    select r.position, h.position is not null as "isCounted",
      coalesce(h.is_complete or h.is_parked, false) as "isClosed",
      h.position is null
        and not coalesce(c.epoch = r.epoch and (c.done_blocks & r.blocks) = r.blocks, false) as "isLost"
    from reported r
    left join held h using (position)
    left join chunks c on ${isChunkOf(sql, 'r')}`;
}

const sums = (sql: Sql) => sql`
  select notification_id, app_id, platform_id,
    sum(uncertain) as uncertain, sum(gone) as gone, sum(refused) as refused,
    sum(total) as total, sum(delivered) as delivered, sum(failed) as failed,
    sum(skipped) as skipped, sum(expired) as expired, sum(cancelled) as cancelled,
    sum(reached) as reached, min(group_number) as group_number,
    string_agg(reach_words, ''::bytea) filter (where is_reached_in_scope) as reach_words
  from held group by notification_id, app_id, platform_id`;

const reasonSums = (sql: Sql, reasons: readonly CountedReason[]) => sql`
  select h.notification_id, h.app_id, h.platform_id, reason.reason, sum(reason.count)
  from ${explained(sql, reasons)}
  join held h using (position)
  group by h.notification_id, h.app_id, h.platform_id, reason.reason
  order by h.notification_id, h.app_id, h.platform_id, reason.reason`;

const deleteDone = (sql: Sql) => sql`
  delete from chunks c using held h
  where h.is_complete and ${isChunkOf(sql, 'h')}
  returning c.notification_id, c.app_id, c.platform_id, c.group_number, c.reach_words as earlier,
    case when not h.is_reached_in_scope then h.reach_words end as last`;

const reachOfDone = (sql: Sql) => sql`
  select notification_id, app_id, platform_id, group_number, coalesce(earlier, '') || coalesce(last, '')
  from completed where earlier is not null or last is not null`;

/** Carries on unfinished chunks: they are held further, given back, or parked. */
const continueChunks = (sql: Sql, leaseMs: number) => sql`
  update chunks c set
    done_blocks = c.done_blocks | h.blocks,
    started_blocks = coalesce(h.started, c.started_blocks),
    claims_without_progress = case
      when h.failure is null and (h.blocks <> 0 or h.release_after_ms is not null) then 0
      else c.claims_without_progress end,
    is_doubted = case when h.is_doubted then true else c.is_doubted end,
    last_failure = coalesce(h.failure, c.last_failure),
    reach_words = case
      when h.reach_words is null or h.is_reached_in_scope then c.reach_words
      else coalesce(c.reach_words, '') || h.reach_words end,
    open_devices = coalesce(h.open_devices, c.open_devices),
    begun_counts = case when h.begun is not null then h.epoch || h.begun end,
    parked_at = case when h.is_parked then now() end,
    parked_devices = case when h.is_parked then h.total end,
    lease_until = case when h.release_after_ms is null and not h.is_parked
      then now() + ${leaseMs}::float8 * interval '1 millisecond' end,
    available_at = case
      when h.is_parked then 'infinity'
      when h.release_after_ms is null then c.available_at
      else now() + h.release_after_ms * interval '1 millisecond' end
  from held h
  where not h.is_complete and ${isChunkOf(sql, 'h')}`;

/** Whether chunk `c` is the one that a row is about. Found by its key alone (PLANS_ARE_KEPT). */
const isChunkOf = (sql: Sql, row: 'h' | 'r') =>
  row === 'h'
    ? sql`c.notification_id = any (array[h.notification_id])
        and (c.app_id, c.platform_id, c.group_number) = (h.app_id, h.platform_id, h.group_number)`
    : sql`c.notification_id = any (array[r.notification_id])
        and (c.app_id, c.platform_id, c.group_number) = (r.app_id, r.platform_id, r.group_number)`;

const reported = rowsOf<ChunkProgress>('reported', {
  position: integer((_, position) => position),
  ...NOTIFICATION_SCOPE,
  group_number: integer(({ groupNumber }) => groupNumber),
  epoch: integer(({ epoch }) => epoch),
  blocks: bigint(({ blocks }) => blocks),
  started: bigint(({ started }) => started),
  open_devices: integer(({ openDevices }) => openDevices),
  begun: integers(({ begun }) => (begun === undefined ? null : begunOf(begun))),
  total: integer(({ counts }) => counts.total),
  delivered: integer(({ counts }) => counts.delivered),
  failed: integer(({ counts }) => counts.failed),
  skipped: integer(({ counts }) => counts.skipped),
  expired: integer(({ counts }) => counts.expired),
  cancelled: integer(({ counts }) => counts.cancelled),
  uncertain: integer(({ retries }) => retries.filter(({ isUncertain }) => isUncertain).length),
  gone: integer((report) => countOf(report, 'gone')),
  refused: integer((report) => countOf(report, 'refused')),
  reached: integer(({ reached }) => reached?.devices ?? 0),
  reach_words: octets(({ reached }) => reached?.words ?? null),
  is_reached_in_scope: boolean(({ isReachedInScope }) => isReachedInScope ?? false),
  is_doubted: boolean(({ isDoubted }) => isDoubted ?? false),
  release_after_ms: float8(({ releaseAfterMs }) => releaseAfterMs),
  failure: text(({ failure }) => failure ?? null),
  is_parked: boolean(({ isParked }) => isParked ?? false),
});

interface Positioned {
  readonly position: number;
}

const POSITION: Columns<Positioned> = { position: integer(({ position }) => position) };

const postponed = rowsOf<Positioned & NewRetry>('retry', {
  ...POSITION,
  ordinal: integer(({ ordinal }) => ordinal),
  attempts: smallint(({ attempts }) => attempts),
  reason: text(({ reason }) => reason),
  due_in_ms: float8(({ dueInMs }) => dueInMs),
  is_uncertain: boolean(({ isUncertain }) => isUncertain),
});

const condemned = rowsOf<Positioned & EraseReason>('erase_reason', {
  ...POSITION,
  ordinal: integer(({ ordinal }) => ordinal),
  registered_before_ms: float8(({ registeredBeforeMs }) => registeredBeforeMs),
  is_refusal: boolean(({ kind }) => kind === 'refused'),
});

interface CountedReason extends Positioned {
  readonly reason: string;
  readonly count: number;
}

const explained = rowsOf<CountedReason>('reason', {
  ...POSITION,
  reason: text(({ reason }) => reason),
  count: integer(({ count }) => count),
});
