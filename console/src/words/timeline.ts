/** The events of a notification, in order: by its times, and by the audit log. */

import type { AuditEntry, Notification } from '../../../packages/client/src/openapi.ts';
import { stageTexts } from '../texts/drafts.ts';
import { notificationTexts as texts } from '../texts/notifications.ts';
import { isFinal, standingOfAll } from './outcomes.ts';

export interface Happening {
  readonly atMs: number;
  readonly text: string;
  /** Who did it; '' : the engine. */
  readonly by: string;
}

/** Between a request and its send there is a moment even when the send is not scheduled. */
const SCHEDULED_AHEAD_MS = 1_000;

/** `changes`: of the audit log, as far as the role may see it. */
export function timelineOf(
  notification: Notification,
  changes: readonly AuditEntry[],
): readonly Happening[] {
  const { id, state, userName, acceptedAt, sendAt } = notification;
  const { firstSendAt, lastSendAt, finishedAt, expiresAt } = notification;
  const done = changes.flatMap(({ at, action, actor, object }) => {
    const text = texts.deeds[action];
    if (object.id !== id || text === undefined) return [];
    return [{ atMs: at, text, by: actor.name ?? actor.kind }];
  });
  const own = (atMs: number | undefined, text: string) =>
    atMs === undefined ? [] : [{ atMs, text, by: '' }];
  const isOver = isFinal(state);
  const all = [
    { atMs: acceptedAt, text: texts.submitted, by: userName },
    ...(sendAt > acceptedAt + SCHEDULED_AHEAD_MS && (!isOver || firstSendAt !== undefined)
      ? own(sendAt, texts.scheduledFor)
      : []),
    ...own(firstSendAt, texts.firstSent),
    ...own(notification.stageEndedAt, stageTexts.at),
    ...done,
    ...(isOver ? own(lastSendAt, texts.lastSent) : own(expiresAt, texts.expiresThen)),
    ...own(finishedAt, texts.endedAs(standingOfAll(notification).label)),
  ];
  return all.toSorted((a, b) => a.atMs - b.atMs);
}
