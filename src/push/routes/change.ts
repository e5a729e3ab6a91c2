/** `PATCH …/notifications/<id>`: another end, priority or rate, or, before it is due, beginning. */

import { z } from 'zod';
import { recordChange } from '../../audit/record-change.ts';
import { shareClient } from '../../clients/lock-client.ts';
import type { SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import { publisherOf } from '../../domain/caller.ts';
import {
  CHANGEABLE_OPTIONS,
  optionSchemas,
  pushOption,
  shownOptions,
} from '../../domain/push-options.ts';
import { shown } from '../../http/answers.ts';
import { originOf } from '../../http/audit-origin.ts';
import type { Body } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { parseObject } from '../../http/json-body.ts';
import { LenientReader } from '../../http/lenient.ts';
import { epochMs, orAbsent, state, time } from '../../http/openapi/parts.ts';
import type { Result } from '../../http/result.ts';
import { done, refuse } from '../../http/result.ts';
import type { ChangedField, NotificationChange } from '../sql/notifications/change-notification.ts';
import { changeNotification } from '../sql/notifications/change-notification.ts';
import { tooLate } from './control.ts';
import { jobId, jobPath, NO_JOB, sends } from './job.ts';
import { endFaults } from './push.ts';
import { HOLD_SECONDS_MAX, readDue, unknownFieldFaults } from './push-request.ts';
import { JOB_ID } from './push-schemas.ts';

const FIELDS = [
  'sendAt',
  'holdSeconds',
  'expiresAt',
  ...CHANGEABLE_OPTIONS.map((name) => pushOption(name).field),
] as const;

function fieldOf(name: ChangedField): string {
  switch (name) {
    case 'sendAtMs':
      return 'sendAt';
    case 'expiresAtMs':
      return 'expiresAt';
    default:
      return pushOption(name).field;
  }
}

const BODY: Body<NotificationChange> = {
  schema: z.strictObject({
    sendAt: time.optional().meta({ description: 'Only before the job is due. In the past: now.' }),
    holdSeconds: z.int().min(1).max(HOLD_SECONDS_MAX).optional().meta({
      description:
        'In place of `sendAt`: so many seconds from now, by the clock of the engine. Time to take it back.',
    }),
    expiresAt: time
      .nullish()
      .meta({ description: 'null: no end. In the past, or not after `sendAt`: `400`.' }),
    ...optionSchemas(CHANGEABLE_OPTIONS, ({ schema, nullMeans }) =>
      schema.nullish().meta({ description: `null: ${nullMeans}.` }),
    ),
  }),
  example: { expiresAt: '2030-01-01T12:00:00Z' },
  read: ({ body }) => readChange(body),
};
const changedJob = z.object({
  id: jobId,
  state,
  sendAt: epochMs,
  expiresAt: orAbsent(epochMs),
  ...optionSchemas(CHANGEABLE_OPTIONS, ({ shownSchema }) => shownSchema),
});

export const changeRoute = (sql: SqlPool): Route =>
  sends.patch(
    'changeNotification',
    {
      at: ':id',
      summary: 'Change a push job: its times, its priority, its rate',
      description:
        'A running send goes on with the new end and the new rate within a second, and with the new priority from its next device group on. `409`, with the state: the job has ended, or, for `sendAt`, is due. Any other field is `400`.',
      path: jobPath,
      body: BODY,
      answer: shown('Changed.', changedJob, {
        id: JOB_ID,
        state: 'SCHEDULED',
        sendAt: 1_893_495_600_000,
        expiresAt: 1_893_499_200_000,
        priority: 'normal',
      }),
      problems: [409],
    },
    async ({ caller, path: { id }, body, request }) => {
      const changed = await transact(sql, async (tx) => {
        await shareClient(tx, caller.clientId);
        const after = await changeNotification(tx, caller.clientId, id, publisherOf(caller), body);
        if (after !== null && after.changed.length > 0) {
          const detail = { fields: after.changed.map(fieldOf) };
          const change = { action: 'notification.change', id, name: null, detail } as const;
          await recordChange(tx, originOf(request, caller), change);
        }
        return after;
      });
      if (changed === null) return NO_JOB;
      const { state, sendAtMs, expiresAtMs } = changed;
      switch (changed.kind) {
        case 'ended':
          return tooLate(state, 'be changed');
        case 'due':
          return tooLate(state, 'get another sendAt');
        case 'out-of-order': {
          const path = body.expiresAtMs === undefined ? 'sendAt' : 'expiresAt';
          return refuse.invalid([{ path, message: 'expiresAt must be later than sendAt.' }]);
        }
        case 'local':
          return refuse.invalid([{ path: 'sendAt', message: IS_LOCAL }]);
        case 'retry':
          return refuse.invalid([{ path: 'expiresAt', message: retryEnds(changed) }]);
        case 'changed':
          return done({
            id,
            state,
            sendAt: sendAtMs,
            expiresAt: expiresAtMs,
            ...shownOptions(changed, CHANGEABLE_OPTIONS),
          });
      }
    },
  );

const IS_LOCAL =
  'cannot be changed: the push is sent at a local time, in several waves. Replace it before the first one.';

const retryEnds = ({ retriesUntilMs }: { readonly retriesUntilMs: number | null }): string =>
  `must be at or before ${new Date(retriesUntilMs ?? 0).toISOString()}: a retry or a correction ends before it is forgotten whom the first job has reached.`;

function readChange(body: Buffer): Result<NotificationChange> {
  const parsed = parseObject(body);
  if (!parsed.ok) return refuse.invalid(parsed.faults);
  const read = parsed.value;
  const reader = new LenientReader(read);
  const sendAtMs = reader.time('sendAt');
  const expiresAtMs = reader.time('expiresAt');
  const options = CHANGEABLE_OPTIONS.filter((name) => reader.isGiven(pushOption(name).field)).map(
    (name) => [name, pushOption(name).read(reader)] as const,
  );
  if (read['sendAt'] === null) reader.fault('sendAt', 'must be a time.');
  const due = readDue(reader, sendAtMs);
  reader.faults.push(...endFaults(expiresAtMs));
  reader.faults.push(...unknownFieldFaults(read, FIELDS, 'a change of a push job'));
  if (reader.faults.length > 0) return refuse.invalid(reader.faults);
  return done({
    ...(due.sendAtMs === null ? {} : { ...due, sendAtMs: due.sendAtMs }),
    // Null takes the end away.
    ...(reader.isGiven('expiresAt') ? { expiresAtMs } : {}),
    ...Object.fromEntries(options),
  });
}
