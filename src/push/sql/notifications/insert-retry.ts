/** Writes a retry, if the jobs whose reach it leaves out have ended and will not run again. */

import type { Sql } from '../../../database/sql.ts';
import type { Correction, NotificationState } from '../../../domain/notification.ts';
import { readReachStandings } from '../ledger/read-reach.ts';
import type { AcceptedNotification, NewNotification } from './insert-notifications.ts';
import { insertNotifications } from './insert-notifications.ts';

/** @publisherLimit retries and corrections of a job, those of its retries included → `409` */
export const CHAIN_MAX = 16;
/**
 * Clocks of nodes differ, and a send that was begun awaits its answer.
 * @limit time by which a retry ends before the reach that it leaves out is removed
 */
const RETRY_MARGIN_MS = 3_600_000;

export type WhyNoRetry =
  /** The job, or another retry of it. */
  | { readonly kind: 'under-way'; readonly id: string; readonly state: NotificationState }
  /** An operator may release parked parts of this one: then it sends on. */
  | { readonly kind: 'parked'; readonly id: string }
  | { readonly kind: 'too-many'; readonly max: number }
  /** This one has corrected what the retry would send, or retracted it. */
  | { readonly kind: 'corrected'; readonly id: string; readonly correction: Correction }
  | ReachGone
  /** It is not known to whom a part of this one was sent. */
  | { readonly kind: 'reach-incomplete'; readonly id: string };

/** It is not known any more whom the chain has reached, or soon will not be. */
export type ReachGone = { readonly kind: 'reach-gone' } & WhyGone;
type WhyGone =
  | { readonly why: 'first-deleted' | 'removed' }
  /** When the first send of the chain began; or until when a retry could have been sent. */
  | { readonly why: 'began-long-ago' | 'ends-soon'; readonly atMs: number };

type InsertedRetry =
  | WhyNoRetry
  | { readonly kind: 'key-taken' }
  | { readonly kind: 'inserted'; readonly accepted: AcceptedNotification };

export type NewRetry = NewNotification & { readonly retries: string };

interface Retrying {
  readonly reachKeptMs: number;
  /** The request gives the payload: that of the job is not sent again. */
  readonly hasOwnPayload: boolean;
}

/**
 * It ends before the reach is removed, which stays for `reachKeptMs` at least after the first send.
 * The transaction holds the client, so that no device moves, and then the first job.
 */
export async function insertRetry(
  tx: Sql,
  retry: NewRetry,
  { reachKeptMs, hasOwnPayload }: Retrying,
): Promise<InsertedRetry> {
  await holdReach(tx);
  await tx`select from notifications where id = ${retry.retries}::uuid for no key update`;
  const chain = await readChain(tx, retry.retries);
  const underWay = chain.find(({ hasEnded }) => !hasEnded);
  if (underWay !== undefined) return { ...underWay, kind: 'under-way' };
  const correction = chain.findLast((one) => one.correction !== null);
  if (correction?.correction === 'retract' || (correction !== undefined && !hasOwnPayload)) {
    return { kind: 'corrected', id: correction.id, correction: correction.correction ?? 'correct' };
  }
  const parked = chain.find(({ hasParked }) => hasParked);
  if (parked !== undefined) return { kind: 'parked', id: parked.id };
  if (chain.length > CHAIN_MAX) return { kind: 'too-many', max: CHAIN_MAX };
  if (!chain.some(({ id }) => id === retry.retries)) return gone({ why: 'first-deleted' });
  const kept = endOfReach(chain, reachKeptMs);
  if (kept.kind === 'reach-gone') return kept;
  const { untilMs } = kept;
  const fault = await reachFault(tx, chain, retry);
  if (fault !== null) return fault;
  // Without an end of its own it has the patience of any push, and fails where that is over.
  const expiresAtMs = retry.expiresAtMs === null ? null : Math.min(retry.expiresAtMs, untilMs);
  const [accepted] = await insertNotifications(tx, [{ ...retry, expiresAtMs }]);
  if (accepted === undefined) return { kind: 'key-taken' };
  await tx`
    update notifications n set retries = f.id,
      retries_until = to_timestamp(${untilMs}::float8 / 1000),
      -- Places that the first send gave back are taken again.
      category = f.category, caps = f.caps
    from notifications f
    where n.id = ${accepted.id}::uuid and f.id = ${retry.retries}::uuid`;
  return { kind: 'inserted', accepted };
}

/** No reach is removed until the transaction ends (remove-reach.ts). */
export async function holdReach(tx: Sql): Promise<void> {
  await tx`insert into reach_removal default values on conflict do nothing`;
  await tx`select from reach_removal for share`;
}

/** Until when a further job of a chain may send, which needs the reach of the others. */
export function endOfReach(
  chain: readonly Pick<Link, 'sinceMs'>[],
  reachKeptMs: number,
): ReachGone | { readonly kind: 'kept'; readonly untilMs: number } {
  const sinceMs = Math.min(...chain.map((one) => one.sinceMs));
  const untilMs = sinceMs + reachKeptMs - RETRY_MARGIN_MS;
  const nowMs = Date.now();
  if (sinceMs + reachKeptMs <= nowMs) return gone({ why: 'began-long-ago', atMs: sinceMs });
  if (untilMs <= nowMs) return gone({ why: 'ends-soon', atMs: untilMs });
  return { kind: 'kept', untilMs };
}

const gone = (why: WhyGone): ReachGone => ({ kind: 'reach-gone', ...why });

interface Link {
  readonly id: string;
  readonly state: NotificationState;
  readonly correction: Correction | null;
  readonly hasEnded: boolean;
  readonly hasParked: boolean;
  /** Its first send, or its end without one: devices that it reached have moved since at most. */
  readonly sinceMs: number;
}

/** A statement of its own: it sees what was committed before the first job was locked. */
const readChain = (tx: Sql, first: string) => tx<Link[]>`
  select n.id, n.state, n.correction, n.finished_at is not null as "hasEnded",
    exists (select from chunks c where c.notification_id = n.id and c.parked_at is not null)
      or exists (select from retries r where r.notification_id = n.id and r.parked_at is not null)
      as "hasParked",
    floor(extract(epoch from coalesce(n.first_send_at, n.finished_at, now())) * 1000)::float8 as "sinceMs"
  from notifications n
  where n.id = ${first}::uuid or n.retries = ${first}::uuid
  order by n.id`;

/** Whether the reach of a job says less than everything where the retry goes. */
async function reachFault(
  tx: Sql,
  chain: readonly Link[],
  { scopes }: NewRetry,
): Promise<WhyNoRetry | null> {
  const standings = await readReachStandings(
    tx,
    chain.map(({ id }) => id),
  );
  const concerned = standings.filter((one) =>
    scopes.some(({ appId, platformId }) => appId === one.appId && platformId === one.platformId),
  );
  if (concerned.some(({ isGone }) => isGone)) return gone({ why: 'removed' });
  const partly = concerned.find(({ isWhole }) => !isWhole);
  return partly === undefined ? null : { kind: 'reach-incomplete', id: partly.notificationId };
}
