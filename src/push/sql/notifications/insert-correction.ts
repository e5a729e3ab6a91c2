/**
 * Writes a correction or retraction and, where it is so wanted, cancels what is still to be sent of
 * the job: in the caller's transaction, so that no device gets both texts of one send, or neither.
 */

import type { Sql } from '../../../database/sql.ts';
import { list } from '../../../database/sql.ts';
import type { Correction, NotificationState } from '../../../domain/notification.ts';
import type { EndedNotification } from '../ledger/advance-notifications.ts';
import {
  advanceNotifications,
  beginCorrections,
  unmoved,
} from '../ledger/advance-notifications.ts';
import { NOT_PLANNED } from '../ledger/change-state.ts';
import { lockNotifications } from '../ledger/lock-notifications.ts';
import { readReachStandings } from '../ledger/read-reach.ts';
import type { AcceptedNotification, NewNotification } from './insert-notifications.ts';
import { insertNotifications } from './insert-notifications.ts';
import type { ReachGone } from './insert-retry.ts';
import { CHAIN_MAX, endOfReach, holdReach } from './insert-retry.ts';
import { planCorrection } from './plan-correction.ts';

/** The fate of the part of a job that is not sent yet. */
export type Rest =
  /** It gets the message of the correction. */
  | 'corrected'
  | 'stop'
  /** It is sent as it was, and gets the message of the correction after it. */
  | 'original';

export type NewCorrection = NewNotification & {
  readonly retries: string;
  readonly correction: Correction;
};

interface Correcting {
  /** The job that the request names, of the chain of `retries`. */
  readonly target: string;
  readonly rest: Rest;
  readonly reachKeptMs: number;
}

export type WhyNoCorrection =
  /** Another job of the chain. */
  | { readonly kind: 'under-way'; readonly id: string; readonly state: NotificationState }
  /** Nothing of it was sent yet. */
  | { readonly kind: 'not-begun'; readonly state: NotificationState }
  | { readonly kind: 'nobody' }
  /** At local time: its reach is whole after the last of them. */
  | { readonly kind: 'waves-to-come' }
  | { readonly kind: 'retracted'; readonly id: string }
  /** An operator may release parked parts of this one: then it sends on. */
  | { readonly kind: 'parked'; readonly id: string }
  | { readonly kind: 'too-many'; readonly max: number }
  | ReachGone;

type InsertedCorrection =
  | WhyNoCorrection
  | { readonly kind: 'key-taken' }
  | {
      readonly kind: 'inserted';
      readonly accepted: AcceptedNotification;
      /** Those that have ended with this. */
      readonly ended: readonly EndedNotification[];
    };

/** The transaction holds the client, so that no device moves. */
export async function insertCorrection(
  tx: Sql,
  correction: NewCorrection,
  { target, rest, reachKeptMs }: Correcting,
): Promise<InsertedCorrection> {
  const { retries: first } = correction;
  await holdReach(tx);
  await lockNotifications(tx, [first, target]);
  const chain = await readChain(tx, first);
  const job = chain.find(({ id }) => id === target);
  const why = whyNot(chain, job, correction.correction, rest) ?? (await whyGone(tx, chain, first));
  if (why !== null) return why;
  const isForNobody = chain.every(({ hasEnded, reached }) => hasEnded && reached === 0);
  if (job === undefined || isForNobody) return { kind: 'nobody' };
  const kept = endOfReach(chain, reachKeptMs);
  if (kept.kind === 'reach-gone') return kept;
  const [accepted] = await insertNotifications(tx, [correction]);
  if (accepted === undefined) return { kind: 'key-taken' };
  const { id } = accepted;
  // A job under way may still send, also with a rest of `original`.
  const isWaiting = !job.hasEnded;
  const chunks = await planCorrection(tx, {
    id,
    first,
    correction: correction.correction,
    untilMs: kept.untilMs,
    chain: chain.map((one) => one.id),
    isWaiting,
  });
  await letGo(tx, chain.filter(isCalledOff));
  if (isWaiting) await awaitEnd(tx, id, job, rest);
  const moved = [...(isWaiting ? [job.id] : []), ...(chunks === 0 ? [id] : [])];
  const ended = moved.length === 0 ? [] : await advanceNotifications(tx, moved.map(unmoved));
  await beginCorrections(tx, ended);
  return { kind: 'inserted', accepted: { id, state: 'RUNNING' }, ended };
}

/**
 * The correction begins with the end of the job (advance-notifications.ts). A part that its
 * publisher had cancelled before gets nothing.
 */
const awaitEnd = (tx: Sql, correctionId: string, { id, state }: Link, rest: Rest) => tx`
  update notifications set
    state = ${rest === 'original' ? state : 'CANCELLED'}, awaited_by = ${correctionId}::uuid,
    rest_to = ${rest === 'corrected' && state !== 'CANCELLED' ? correctionId : null}::uuid
  where id = ${id}::uuid`;

/** Lets them be counted as cancelled: the job that they wait for has another correction. */
const letGo = (tx: Sql, corrections: readonly Link[]) =>
  corrections.length === 0
    ? null
    : tx`
        update chunks set available_at = now()
        where notification_id = any (${list(corrections.map(({ id }) => id))}::uuid[])
          and available_at = 'infinity' and parked_at is null`;

interface Link {
  readonly id: string;
  readonly state: NotificationState;
  readonly correction: Correction | null;
  readonly hasEnded: boolean;
  readonly hasWavesToCome: boolean;
  readonly isPlanned: boolean;
  /** It is to begin when another job of the chain has ended. */
  readonly isWaiting: boolean;
  readonly hasParked: boolean;
  readonly reached: number;
  /** Its first send, or its end without one: devices that it reached have moved since at most. */
  readonly sinceMs: number;
}

/** A statement of its own: it sees what was committed before the jobs were locked. */
const readChain = (tx: Sql, first: string) => tx<Link[]>`
  select n.id, n.state, n.correction, n.finished_at is not null as "hasEnded",
    n.state not in ('SCHEDULED', 'QUEUED') and n.open_chunks <> ${NOT_PLANNED}::integer as "isPlanned",
    n.finished_at is null and n.next_wave_at is not null as "hasWavesToCome",
    exists (
      select from notifications a
      where a.awaited_by = n.id and a.finished_at is null and (a.id = ${first}::uuid or a.retries = ${first}::uuid)
    ) as "isWaiting",
    exists (select from chunks c where c.notification_id = n.id and c.parked_at is not null)
      or exists (select from retries r where r.notification_id = n.id and r.parked_at is not null)
      as "hasParked",
    (
      select coalesce(sum(s.reached), 0)::float8 from notification_scopes s where s.notification_id = n.id
    ) as reached,
    floor(extract(epoch from coalesce(n.first_send_at, n.finished_at, now())) * 1000)::float8 as "sinceMs"
  from notifications n
  where n.id = ${first}::uuid or n.retries = ${first}::uuid
  order by n.id`;

/** A correction that was cancelled before it could begin: it sends nothing. */
const isCalledOff = ({ isWaiting, state, hasEnded }: Link): boolean =>
  isWaiting && state === 'CANCELLED' && !hasEnded;

/** Null: nothing stands in its way. */
function whyNot(
  chain: readonly Link[],
  job: Link | undefined,
  correction: Correction,
  rest: Rest,
): WhyNoCorrection | null {
  if (job === undefined) return null;
  const underWay = chain.find((one) => !one.hasEnded && one.id !== job.id && !isCalledOff(one));
  if (underWay !== undefined) return { ...underWay, kind: 'under-way' };
  const retracted = chain.find((one) => one.correction === 'retract');
  if (retracted !== undefined && correction === 'correct')
    return { kind: 'retracted', id: retracted.id };
  if (!job.hasEnded && !job.isPlanned) return { kind: 'not-begun', state: job.state };
  if (job.hasWavesToCome && rest !== 'stop') return { kind: 'waves-to-come' };
  // Those of a cancelled job are counted when they are released, and not sent.
  const parked = chain.find(
    ({ id, hasParked, state }) =>
      hasParked && state !== 'CANCELLED' && (id !== job.id || job.hasEnded),
  );
  if (parked !== undefined) return { kind: 'parked', id: parked.id };
  if (chain.length > CHAIN_MAX) return { kind: 'too-many', max: CHAIN_MAX };
  return null;
}

async function whyGone(
  tx: Sql,
  chain: readonly Link[],
  first: string,
): Promise<WhyNoCorrection | null> {
  if (!chain.some(({ id }) => id === first)) return { kind: 'reach-gone', why: 'first-deleted' };
  const standings = await readReachStandings(
    tx,
    chain.map(({ id }) => id),
  );
  return standings.some(({ isGone }) => isGone) ? { kind: 'reach-gone', why: 'removed' } : null;
}
