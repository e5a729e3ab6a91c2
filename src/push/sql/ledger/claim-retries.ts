/** Claims due retries: at most one batch for each wanted scope, with new epochs and leases. */

import { NOTIFICATION_SCOPE } from '../../../database/columns.ts';
import { rowsOf } from '../../../database/rows.ts';
import type { Fragment, Sql } from '../../../database/sql.ts';
import type { NotificationScope } from '../../../domain/notification.ts';
import type { Among, ClaimedScope } from './claim-chunks.ts';
import { claimedScope, isAmong } from './claim-chunks.ts';
import { isClaimable } from './claimable-state.ts';
import { isScopeOf } from './scope-of.ts';
import { isUnheld } from './unheld.ts';

/**
 * So few that half a lease suffices, so many that a claim is worth its cost.
 * @limit retries in a batch → the next claim
 */
const RETRY_BATCH_MAX = 1_024;

export interface ClaimedRetries extends ClaimedScope {
  readonly ordinals: readonly number[];
  readonly epochs: readonly number[];
  /** Sends tried so far. */
  readonly attempts: readonly number[];
  /** Whether the earlier holder did not give it back: then it may have been sent. */
  readonly wereLost: readonly boolean[];
  /** One number for each retry, as for a chunk. */
  readonly claimsWithoutProgress: readonly number[];
  readonly lastFailure: string | null;
}

/** `nodeId`: the claiming node; null: the only node. */
export const claimRetries = (
  sql: Sql,
  wanted: readonly NotificationScope[],
  leaseMs: number,
  nodeId: number | null,
  among: Among = 'unsuspected',
) => sql<ClaimedRetries[]>`
  with wanted as (
    select w.*, n.state = 'CANCELLED' as is_cancelled
    from ${wantedParts(sql, wanted)}
    join notifications n on n.id = any (array[w.notification_id]) and ${isClaimable(sql)}
  ),
  due as (
    select r.* from wanted w
    cross join lateral (
      ${batch(sql, among, sql`not w.is_cancelled and due_at <= now()`, sql`due_at`)}
    ) r
  ),
  to_be_counted as (
    select r.* from wanted w
    cross join lateral (
      ${batch(sql, among, sql`w.is_cancelled and parked_at is null`, sql`ordinal`)}
    ) r
  ),
  claimed as (
    update retries r set
      epoch = r.epoch + 1,
      is_doubted = case when d.is_in_doubt then true else r.is_doubted end,
      claims_without_progress = r.claims_without_progress + 1,
      node_id = ${nodeId}::integer,
      node_epoch = r.epoch + 1,
      lease_until = now() + ${leaseMs}::float8 * interval '1 millisecond'
    from (select * from due union all select * from to_be_counted) d
    where r.ctid = d.place
    returning r.*, d.was_lost
  ),
  batches as (
    select notification_id, app_id, platform_id,
      array_agg(ordinal order by ordinal) as ordinals,
      array_agg(epoch order by ordinal) as epochs,
      array_agg(attempts::integer order by ordinal) as attempts,
      array_agg(was_lost order by ordinal) as were_lost,
      array_agg(claims_without_progress::integer order by ordinal) as claims,
      max(last_failure) as last_failure
    from claimed group by notification_id, app_id, platform_id
  )
  select h.ordinals, h.epochs, h.attempts, h.were_lost as "wereLost",
    h.claims as "claimsWithoutProgress", h.last_failure as "lastFailure", ${claimedScope(sql)}
  from batches h
  join notifications n on n.id = any (array[h.notification_id])
  join notification_scopes s on ${isScopeOf(sql)}`;

const wantedParts = rowsOf<NotificationScope>('w', NOTIFICATION_SCOPE);

/**
 * Retries of part `w` that no node holds and `which` selects. `order`: that of the index with only
 * these, so that a plan made without retries takes it (PLANS_ARE_KEPT). A row that moved since it
 * was locked is left for the next claim.
 */
const batch = (sql: Sql, among: Among, which: Fragment, order: Fragment) => sql`
  select ctid as place, lease_until is not null as was_lost,
    -- Its holder did not give it back, or failed with it.
    lease_until is not null or claims_without_progress > 0 as is_in_doubt
  from retries
  where (notification_id, app_id, platform_id) = (w.notification_id, w.app_id, w.platform_id)
    and ${which} and ${isUnheld(sql)} and ${isAmong(sql, among)}
  order by ${order}
  limit ${RETRY_BATCH_MAX}::integer
  for update skip locked`;
