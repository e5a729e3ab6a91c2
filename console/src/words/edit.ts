/** Edits a scheduled notification: its schedule in place, anything else by one that replaces it. */

import { ProblemError } from '../../../packages/client/src/client.ts';
import type { Notification, PushRequest } from '../../../packages/client/src/openapi.ts';
import type { ClientApi } from '../api/client.ts';
import { DescribedError } from '../api/fault.ts';
import type { DraftFields, EditedNotification, EditedSchedule } from '../state/draft.svelte.ts';
import { textOf, wasHastened } from '../state/draft.svelte.ts';
import { editTexts as texts } from '../texts/edit.ts';
import { draftOf } from './again.ts';
import { DAY_MS, localTime, MINUTE_MS } from './format.ts';
import { lastMomentOf } from './local-waves.ts';
import { titleOf } from './notification.ts';
import { isFinal } from './outcomes.ts';
import { randomKey } from './random-key.ts';
import type { ChosenScopes } from './scopes.ts';

/** The fields that are changed in place. */
const SCHEDULE: ReadonlySet<string> = new Set([
  'when',
  'sendAt',
  'expiresMinutes',
  'ratePerSecond',
  'isUrgent',
] satisfies readonly (keyof DraftFields)[]);

/** The fields of a draft that a scheduled notification has, and what it is remembered by. */
export async function editOf(
  api: ClientApi,
  notification: Notification,
  scopes: ChosenScopes,
): Promise<{ readonly fields: Partial<DraftFields>; readonly edited: EditedNotification }> {
  const { id, payload, delivery } = notification;
  const content = await draftOf(api, notification, scopes);
  const fields = { ...content, ...scheduleOf(notification) };
  const text = textOf(fields);
  const schedule = exactSchedule(notification);
  const key = randomKey();
  return { fields, edited: { id, title: titleOf(payload), text, delivery, schedule, key } };
}

const exactSchedule = (notification: Notification): EditedSchedule => ({
  sendAt: notification.sendAt,
  expiresAt: notification.expiresAt ?? null,
  ratePerSecond: notification.ratePerSecond ?? null,
  priority: notification.priority,
  pauseAfter: notification.pauseAfter ?? null,
});

const scheduleOf = ({
  sendAt,
  sendAtLocal,
  late,
  expiresAt,
  ratePerSecond,
  priority,
  pauseAfter,
}: Notification): Partial<DraftFields> => ({
  when: sendAtLocal === undefined ? 'later' : 'local',
  sendAt: sendAtLocal ?? localTime(sendAt),
  isLateSent: late === 'send',
  expiresMinutes:
    expiresAt === undefined
      ? 0
      : (expiresAt - (lastMomentOf(sendAtLocal ?? '') ?? sendAt)) / MINUTE_MS,
  ratePerSecond: ratePerSecond ?? null,
  isUrgent: priority === 'urgent',
  isStaged: pauseAfter !== undefined,
});

/** Whether all that was changed is its schedule. One at local time is replaced for that, too. */
export function isOnlySchedule({ text }: EditedNotification, fields: DraftFields): boolean {
  const before = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const after = JSON.parse(textOf(fields)) as Readonly<Record<string, unknown>>;
  if (before['when'] === 'local' || fields.when === 'local') return false;
  return Object.keys(after).every(
    (name) => SCHEDULE.has(name) || JSON.stringify(after[name]) === JSON.stringify(before[name]),
  );
}

const TOO_LATE = 409;

/** Says in the console's words that a change comes too late. `sentence`: where that is not why. */
export async function inTime<T>(request: Promise<T>, sentence = texts.tooLate): Promise<T> {
  try {
    return await request;
  } catch (error) {
    if (!(error instanceof ProblemError) || error.status !== TOO_LATE) throw error;
    throw new DescribedError(sentence, { cause: error });
  }
}

/** Saves the edited notification, as `body` has it. Answers the id that it has now. */
export async function saveEdit(
  api: ClientApi,
  edited: EditedNotification,
  fields: DraftFields,
  body: PushRequest,
): Promise<string> {
  const path = { id: edited.id };
  const { body: now } = await api.request('GET', '/push-api/v3/{client}/notifications/{id}', {
    path,
  });
  const isOver = isFinal(now.state);
  // One that is over may have been replaced by this very request, whose answer was lost.
  if (!isOver) refuseIfChanged(edited, now, fields);
  const schedule = editedSchedule(edited, fields, body);
  if (isOnlySchedule(edited, fields)) {
    const { body: after } = await inTime(
      api.request('PATCH', '/push-api/v3/{client}/notifications/{id}', {
        path,
        body: changesOf(edited.schedule, schedule),
      }),
      isOver ? texts.isOver : texts.tooLate,
    );
    const { holdSeconds } = schedule;
    if (holdSeconds !== undefined) {
      const { sendAt: before } = edited.schedule;
      wasHastened(api.clientId, { notificationId: edited.id, before, heldUntil: after.sendAt });
    }
    return edited.id;
  }
  const replacing = { ...body, ...schedule, delivery: edited.delivery };
  const answer = await inTime(
    api.request('POST', '/push-api/v3/{client}/notifications/{id}/replace', {
      path,
      body: replacing,
      headers: { 'Idempotency-Key': `${edited.key}-${checksum(JSON.stringify(replacing))}` },
    }),
    isOver ? texts.isOver : texts.tooLate,
  );
  return 'id' in answer.body ? answer.body.id : edited.id;
}

/** Somebody else's change must not be lost: the edit knows nothing of it. */
function refuseIfChanged(
  { schedule }: EditedNotification,
  now: Notification,
  { when }: DraftFields,
): void {
  if (JSON.stringify(exactSchedule(now)) !== JSON.stringify(schedule))
    throw new DescribedError(texts.changed, {});
  if (now.state === 'PAUSED' && when === 'now') throw new DescribedError(texts.paused, {});
}

type Schedule = Pick<
  PushRequest,
  'sendAt' | 'holdSeconds' | 'expiresAt' | 'ratePerSecond' | 'priority' | 'pauseAfter'
>;

/** The schedule that is saved. A field that the editor did not touch keeps its exact value. */
function editedSchedule(
  { text, schedule: before }: EditedNotification,
  fields: DraftFields,
  body: PushRequest,
): Schedule {
  const asBefore = JSON.parse(text) as DraftFields;
  const isMoved =
    fields.when === 'now' || fields.when !== asBefore.when || fields.sendAt !== asBefore.sendAt;
  const isEndKept = !isMoved && fields.expiresMinutes === asBefore.expiresMinutes;
  const isStageKept = fields.isStaged === asBefore.isStaged && before.pauseAfter !== null;
  const expiresAt = isEndKept ? (before.expiresAt ?? undefined) : body.expiresAt;
  const pauseAfter = isStageKept ? before.pauseAfter : body.pauseAfter;
  return {
    ...(body.sendAtLocal ? {} : dueOf(body, isMoved ? body.sendAt : before.sendAt)),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(body.ratePerSecond === undefined ? {} : { ratePerSecond: body.ratePerSecond }),
    ...(body.priority === undefined ? {} : { priority: body.priority }),
    ...(pauseAfter === undefined || pauseAfter === null ? {} : { pauseAfter }),
  };
}

/** In the past means now, whatever this machine's clock says. */
const dueOf = (
  { holdSeconds }: PushRequest,
  sendAt: PushRequest['sendAt'],
): Pick<Schedule, 'sendAt' | 'holdSeconds'> =>
  holdSeconds === undefined ? { sendAt: sendAt ?? Date.now() - DAY_MS } : { holdSeconds };

/** The fields of a change in place: those that differ. */
const changesOf = (before: EditedSchedule, { sendAt, holdSeconds, ...after }: Schedule) => ({
  ...(holdSeconds ? { holdSeconds } : {}),
  ...(sendAt === undefined || sendAt === null || sendAt === before.sendAt ? {} : { sendAt }),
  ...((after.expiresAt ?? null) === before.expiresAt ? {} : { expiresAt: after.expiresAt ?? null }),
  ...((after.ratePerSecond ?? null) === before.ratePerSecond
    ? {}
    : { ratePerSecond: after.ratePerSecond ?? null }),
  ...((after.priority ?? 'normal') === before.priority
    ? {}
    : { priority: after.priority ?? ('normal' as const) }),
});

/** Differs for two saves of one edit (FNV-1a). Pages without TLS have no digests. */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0).toString(16);
}
