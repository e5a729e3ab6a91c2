/**
 * Pauses, resumes and cancels a notification. The lock is held until the caller's transaction ends,
 * so that progress and planning come before or after.
 */

import type { Sql } from '../../../database/sql.ts';
import type { NotificationState } from '../../../domain/notification.ts';
import type { EndedNotification } from './advance-notifications.ts';
import { advanceNotifications, unmoved } from './advance-notifications.ts';

export type Order = 'cancel' | 'pause' | 'resume';

/** `isObeyed`: the state is what was asked for. `isChanged`: it was not so before. */
interface Obedience {
  readonly isObeyed: boolean;
  readonly isChanged: boolean;
  readonly state: NotificationState;
  /** Itself, if it has ended with this. */
  readonly ended: readonly EndedNotification[];
}

/** Paused before it was planned. Not 0: that would finish it, also on the version before. */
export const NOT_PLANNED = -1;

interface Standing {
  readonly state: NotificationState;
  readonly isPlanned: boolean;
  readonly isRetry: boolean;
  /** Where one that is not planned waits. */
  readonly line: 'SCHEDULED' | 'QUEUED';
}

/** Null: the client has no such notification, or, with a publisher, it is another's. */
export async function changeState(
  tx: Sql,
  clientId: number,
  notificationId: string,
  publisher: string | null,
  order: Order,
): Promise<Obedience | null> {
  const standing = await lockStanding(tx, clientId, notificationId, publisher);
  if (standing === null) return null;
  const { state } = standing;
  const next = stateAfter(order, standing);
  if (next === null) return { isObeyed: false, isChanged: false, state, ended: [] };
  const isChanged = next !== state;
  const ended = isChanged ? await put(tx, notificationId, standing, next) : [];
  return { isObeyed: true, isChanged, state: next, ended };
}

/**
 * Cancels a notification that no device was counted for yet, unless it is a retry. `state`: as it
 * was. Null: as for `changeState`.
 */
export async function cancelUnbegun(
  tx: Sql,
  clientId: number,
  notificationId: string,
  publisher: string | null,
): Promise<(Omit<Obedience, 'isChanged'> & { readonly isRetry: boolean }) | null> {
  const standing = await lockStanding(tx, clientId, notificationId, publisher);
  if (standing === null) return null;
  const { state, isPlanned, isRetry } = standing;
  const as = { state, isRetry: isRetry && !isPlanned };
  if (isPlanned || isRetry) return { ...as, isObeyed: false, ended: [] };
  return { ...as, isObeyed: true, ended: await put(tx, notificationId, standing, 'CANCELLED') };
}

async function lockStanding(
  tx: Sql,
  clientId: number,
  notificationId: string,
  publisher: string | null,
): Promise<Standing | null> {
  const [standing = null] = await tx<Standing[]>`
    select state, state not in ('SCHEDULED', 'QUEUED') and open_chunks <> ${NOT_PLANNED}::integer as "isPlanned",
      retries is not null as "isRetry",
      case when send_at > accepted_at then 'SCHEDULED' else 'QUEUED' end as line
    from notifications
    where id = ${notificationId}::uuid and client_id = ${clientId}
      and (${publisher}::text is null or user_name = ${publisher})
    for no key update`;
  return standing;
}

/** Null: the order comes too late. */
function stateAfter(order: Order, { state, isPlanned, line }: Standing): NotificationState | null {
  switch (state) {
    case 'FINISHED':
    case 'FAILED':
      return null;
    case 'CANCELLED':
      return order === 'cancel' ? state : null;
    case 'SCHEDULED':
    case 'QUEUED':
    case 'RUNNING':
    case 'PAUSED':
      break;
  }
  switch (order) {
    case 'cancel':
      return 'CANCELLED';
    case 'pause':
      return 'PAUSED';
    case 'resume':
      if (state !== 'PAUSED') return state;
      return isPlanned ? 'RUNNING' : line;
  }
}

/** One that was never planned has no device to count: cancelled, it has ended, and is returned. */
async function put(
  tx: Sql,
  notificationId: string,
  { isPlanned }: Standing,
  next: NotificationState,
): Promise<readonly EndedNotification[]> {
  if (isPlanned)
    await tx`update notifications set state = ${next} where id = ${notificationId}::uuid`;
  else {
    const openChunks = next === 'PAUSED' ? NOT_PLANNED : 0;
    await tx`
      update notifications set state = ${next}, open_chunks = ${openChunks}::integer
      where id = ${notificationId}::uuid`;
  }
  return next === 'CANCELLED' ? await advanceNotifications(tx, [unmoved(notificationId)]) : [];
}
