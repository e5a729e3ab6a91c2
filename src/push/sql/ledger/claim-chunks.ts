/**
 * Claims chunks: each gets a new epoch and a lease by the database's clock, with all that a worker
 * needs. Skips chunks that another node is claiming.
 */

import { NOTIFICATION_SCOPE } from '../../../database/columns.ts';
import { integer, rowsOf } from '../../../database/rows.ts';
import type { Sql } from '../../../database/sql.ts';
import type {
  Correction,
  NotificationScope,
  NotificationState,
} from '../../../domain/notification.ts';
import type { CapTerms } from '../../../domain/policies.ts';
import { REACHED_IN_SCOPE_MAX } from '../../../domain/progress.ts';
import type { NotificationTerms } from '../notifications/terms.ts';
import { termsOf } from '../notifications/terms.ts';
import { isAvailable, isClaimable } from './claimable-state.ts';
import { endOf } from './retry-chain.ts';
import { isUnheld } from './unheld.ts';

export interface Wanted extends NotificationScope {
  readonly count: number;
}

/** The data of a claim about the notification and the scope. */
export interface ClaimedScope extends NotificationScope {
  readonly clientId: number;
  readonly state: NotificationState;
  readonly fault: string | null;
  readonly hasDelivered: boolean;
  /** One group was planned for the scope, and few of its devices are recorded so far. */
  readonly isAlone: boolean;
  readonly terms: NotificationTerms;
  /** The job that was sent first, of whose chain this one is. Null: it is that, or alone. */
  readonly retries: string | null;
  /** The deed of a correction. Null: it is none. */
  readonly correction: Correction | null;
  /** Null: no cap concerns it, and its devices take no places. */
  readonly caps: CapTerms | null;
  readonly dueAtMs: number;
  readonly expiresAtMs: number | null;
  /** The database's time: a registration before it is older than any send that follows. */
  readonly claimedAtMs: number;
}

export interface ClaimedChunk extends ClaimedScope {
  readonly groupNumber: number;
  readonly epoch: number;
  /** The 64 bits as a signed number. */
  readonly doneBlocks: string;
  /** At most once: blocks that the earlier holder may have sent in part. Also signed. */
  readonly startedBlocks: string;
  /** Since the last recorded progress, this one included, and why the last failed; null: lost. */
  readonly claimsWithoutProgress: number;
  readonly lastFailure: string | null;
  readonly ordinalEnd: number;
  /** The group's version; 0 when nothing ever changed in it. */
  readonly groupVersion: number;
  /** An earlier holder was lost. */
  readonly isDoubted: boolean;
  /** A correction also goes to the devices of these words. Null: none. */
  readonly restWords: Uint8Array | null;
  /** The moment of the wave that it belongs to. Null: its job has one. */
  readonly waveAtMs: number | null;
}

/**
 * Parts that only shared the worker with one that made it die come to their end then.
 * @limit claims of a part without progress until it is claimed with no other such part beside it
 */
export const SUSPECT_AFTER = 2;

/** Which parts are claimed: `suspects`, or all the others. */
export type Among = 'unsuspected' | 'suspects';

export const isAmong = (sql: Sql, among: Among) =>
  among === 'suspects'
    ? sql`claims_without_progress >= ${SUSPECT_AFTER}::integer`
    : sql`claims_without_progress < ${SUSPECT_AFTER}::integer`;

/** `nodeId`: the claiming node; null: the only node. Only one suspect is claimed. */
export const claimChunks = (
  sql: Sql,
  wanted: readonly Wanted[],
  leaseMs: number,
  nodeId: number | null,
  among: Among = 'unsuspected',
) => sql<ClaimedChunk[]>`
  with available as (
    select c.*
    from ${wantedChunks(sql, wanted)}
    join notifications n on n.id = any (array[w.notification_id]) and ${isClaimable(sql)}
    cross join lateral (
      select notification_id, app_id, platform_id, group_number,
        -- Its holder did not give it back. One that failed with it has said so (record-chunks.ts).
        lease_until is not null as was_lost
      from chunks
      where (notification_id, app_id, platform_id) = (w.notification_id, w.app_id, w.platform_id)
        and ${isAvailable(sql)} and ${isUnheld(sql)} and ${isAmong(sql, among)}
      order by group_number
      limit w.count
      for update skip locked
    ) c
    limit ${among === 'suspects' ? 1 : totalOf(wanted)}::integer
  ),
  claimed as (
    update chunks c set
      epoch = c.epoch + 1,
      is_doubted = case when a.was_lost then true else c.is_doubted end,
      claims_without_progress = c.claims_without_progress + 1,
      node_id = ${nodeId}::integer,
      node_epoch = c.epoch + 1,
      lease_until = now() + ${leaseMs}::float8 * interval '1 millisecond'
    from available a
    where c.notification_id = any (array[a.notification_id])
      and (c.app_id, c.platform_id, c.group_number) = (a.app_id, a.platform_id, a.group_number)
    returning c.*
  )
  select c.group_number as "groupNumber", c.epoch, c.done_blocks::text as "doneBlocks",
    c.started_blocks::text as "startedBlocks",
    c.claims_without_progress as "claimsWithoutProgress", c.last_failure as "lastFailure",
    s.ordinal_end as "ordinalEnd", coalesce(g.version, 0) as "groupVersion",
    coalesce(c.is_doubted, false) as "isDoubted", c.rest_words as "restWords",
    floor(extract(epoch from c.wave_at) * 1000)::float8 as "waveAtMs",
    ${claimedScope(sql)}
  from claimed c
  join notifications n on n.id = any (array[c.notification_id])
  join notification_scopes s on s.notification_id = any (array[c.notification_id])
    and (s.app_id, s.platform_id) = (c.app_id, c.platform_id)
  left join device_groups g on g.app_id = any (array[c.app_id])
    and (g.platform_id, g.group_number) = (c.platform_id, c.group_number)`;

const wantedChunks = rowsOf<Wanted>('w', {
  ...NOTIFICATION_SCOPE,
  count: integer(({ count }) => count),
});

const totalOf = (wanted: readonly Wanted[]): number =>
  wanted.reduce((total, { count }) => total + count, 0);

/** The columns of a ClaimedScope, of the notification `n` and its scope `s`. */
export const claimedScope = (sql: Sql) => sql`
  n.id as "notificationId", n.client_id as "clientId",
  s.app_id as "appId", s.platform_id as "platformId", n.state, s.fault,
  s.delivered > 0 as "hasDelivered", coalesce(s.planned_chunks = 1 and n.send_at_local is null and s.total <= ${REACHED_IN_SCOPE_MAX}::integer, false) as "isAlone",
  ${termsOf(sql)} as terms, n.retries, n.correction, n.caps,
  floor(extract(epoch from n.send_at) * 1000)::float8 as "dueAtMs",
  floor(extract(epoch from ${endOf(sql)}) * 1000)::float8 as "expiresAtMs",
  floor(extract(epoch from now()) * 1000)::float8 as "claimedAtMs"`;
