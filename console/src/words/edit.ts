/** Edits a scheduled notification: its schedule in place, anything else by one that replaces it. */

import { ProblemError } from '../../../packages/client/src/client.ts';
import type { Notification, PushRequest } from '../../../packages/client/src/openapi.ts';
import type { ClientApi } from '../api/client.ts';
import { DescribedError } from '../api/fault.ts';
import type { DraftFields, EditedNotification } from '../state/draft.svelte.ts';
import { textOf } from '../state/draft.svelte.ts';
import { editTexts as texts } from '../texts/edit.ts';
import { draftOf } from './again.ts';
import { localTime, MINUTE_MS } from './format.ts';
import { titleOf } from './notification.ts';
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
  return { fields, edited: { id, title: titleOf(payload), text: textOf(fields), delivery } };
}

const scheduleOf = ({
  sendAt,
  expiresAt,
  ratePerSecond,
  priority,
  pauseAfter,
}: Notification): Partial<DraftFields> => ({
  when: 'later',
  sendAt: localTime(sendAt),
  expiresMinutes: expiresAt === undefined ? 0 : (expiresAt - sendAt) / MINUTE_MS,
  ratePerSecond: ratePerSecond ?? null,
  isUrgent: priority === 'urgent',
  isStaged: pauseAfter !== undefined,
});

/** Whether all that was changed is its schedule. */
export function isOnlySchedule({ text }: EditedNotification, fields: DraftFields): boolean {
  const before = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const after = JSON.parse(textOf(fields)) as Readonly<Record<string, unknown>>;
  return Object.keys(after).every(
    (name) => SCHEDULE.has(name) || JSON.stringify(after[name]) === JSON.stringify(before[name]),
  );
}

const TOO_LATE = 409;

/** Says in the console's words that a change comes too late. */
export async function inTime<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    if (!(error instanceof ProblemError) || error.status !== TOO_LATE) throw error;
    throw new DescribedError(texts.tooLate, { cause: error });
  }
}

/** Saves the edited notification, as `body` has it. Answers the id that it has now. */
export async function saveEdit(
  api: ClientApi,
  edited: EditedNotification,
  fields: DraftFields,
  { body, key }: { readonly body: PushRequest; readonly key: string },
): Promise<string> {
  const path = { id: edited.id };
  if (isOnlySchedule(edited, fields)) {
    const { sendAt, holdSeconds, expiresAt = null, ratePerSecond = null, priority } = body;
    const due = holdSeconds ? { holdSeconds } : { sendAt: sendAt ?? Date.now() };
    await inTime(
      api.request('PATCH', '/push-api/v3/{client}/notifications/{id}', {
        path,
        body: { ...due, expiresAt, ratePerSecond, priority: priority ?? 'normal' },
      }),
    );
    return edited.id;
  }
  const answer = await inTime(
    api.request('POST', '/push-api/v3/{client}/notifications/{id}/replace', {
      path,
      body: { ...body, delivery: edited.delivery },
      headers: { 'Idempotency-Key': key },
    }),
  );
  return 'id' in answer.body ? answer.body.id : edited.id;
}
