/** What the OpenAPI document says of push jobs: their status, and how they are controlled. */

import { z } from 'zod';
import { NOTIFICATION_STATES } from '../../domain/notification.ts';
import { CHANGEABLE_OPTIONS, optionSchemas, PUSH_OPTION_NAMES } from '../../domain/push-options.ts';
import type { Operation, Operations, Parameter } from '../../http/openapi/operation.ts';
import {
  count,
  epochMs,
  id,
  jsonAnswer,
  LINK,
  PAGE,
  platformId,
  state,
  time,
} from '../../http/openapi/parts.ts';
import { COUNT_MAX, PAGE_MAX } from './history.ts';
import { payload } from './push-operations.ts';

const JOB_ID = '019c6f5e-8a53-7d0e-9d3a-6f5c3c0d1e52';
const jobId = z.uuid();
const path: Readonly<Record<string, Parameter>> = {
  id: { description: 'The id of the push job.', schema: jobId, example: JOB_ID },
};

const counts = {
  totalCount: count,
  successCount: count.meta({ description: 'Accepted by the provider.' }),
  failedCount: count,
  skippedCount: count,
  expiredCount: count,
  cancelledCount: count,
};
const estimatedTotalCount = count.optional().meta({
  description:
    'About how many devices it is for, while it runs: `totalCount` grows as they are found.',
});
const reasons = z.record(z.string(), count).meta({ description: 'Devices by reason.' });
const standing = {
  state,
  ...counts,
  fault: z.string().optional().meta({ description: 'What stopped it.' }),
  waitingFor: z.string().optional().meta({ description: 'What it waits for.' }),
  failureReasons: reasons.optional(),
  uncertainCount: count.optional().meta({ description: 'Sends whose outcome nobody knows.' }),
  heldDeletionCount: count.optional().meta({ description: 'Devices that an operator may erase.' }),
  parkedCount: count.optional(),
  simulated: z.literal(true).optional(),
};
const statusRow = z
  .object({
    key: z.object({ id: jobId, platformId: platformId.nullable() }),
    appId: id.nullable(),
    ...standing,
  })
  .meta({ id: 'StatusRow', description: 'What has become of a push on one app and platform.' });

const times = {
  acceptedAt: epochMs,
  sendAt: epochMs,
  expiresAt: epochMs.optional(),
  firstSendAt: epochMs.optional(),
  lastSendAt: epochMs.optional(),
  finishedAt: epochMs.optional(),
};
const row = { id: jobId, state, userName: z.string(), ...times, ...counts };
const title = z
  .string()
  .optional()
  .meta({ description: 'The beginning of its title, else of its message.' });
const listed = z.object({ ...row, title }).meta({ id: 'ListedNotification' });
const job = z
  .object({
    ...row,
    estimatedTotalCount,
    devicesPerSecond: count.optional(),
    failureReasons: reasons,
    audience: z.object({
      tagIds: z.array(z.int()),
      filterTagIds: z.array(z.int()),
      excludeTagIds: z.array(z.int()),
      appIds: z.array(id),
      expression: z.string().optional().meta({ description: 'As it was given.' }),
    }),
    ...optionSchemas(PUSH_OPTION_NAMES, ({ shownSchema }) => shownSchema),
    payload,
    givenPayload: z.looseObject({}).optional().meta({
      description: 'The payload as its publisher wrote it, where a template was given it.',
    }),
    platforms: z.array(
      z.object({
        appId: id,
        platformId,
        ...standing,
        estimatedTotalCount,
        payload: payload.optional().meta({ description: 'What its template made of the payload.' }),
      }),
    ),
  })
  .meta({ id: 'Notification' });

const COUNTS = {
  totalCount: 10,
  successCount: 9,
  failedCount: 1,
  skippedCount: 0,
  expiredCount: 0,
  cancelledCount: 0,
};
const ROW = {
  id: JOB_ID,
  state: 'FINISHED',
  userName: 'demo-super',
  acceptedAt: 1_795_392_000_000,
  sendAt: 1_795_392_000_000,
  ...COUNTS,
};

const control = (summary: string, becomes: string): Operation => ({
  summary,
  description: 'Durable when it is answered; repeated, it changes nothing.',
  path,
  answers: {
    200: jsonAnswer('Done.', z.object({ id: jobId, state }), { id: JOB_ID, state: becomes }),
  },
  problems: [404, 409],
});

export const jobOperations = {
  getStatus: {
    summary: 'The status of a push',
    path,
    answers: {
      200: jsonAnswer('A row for each app and platform.', z.array(statusRow), [
        { key: { id: JOB_ID, platformId: 3 }, appId: 1, state: 'FINISHED', ...COUNTS },
      ]),
    },
    problems: [404],
  },
  listNotifications: {
    summary: 'List push jobs, newest first',
    query: {
      ...PAGE,
      limit: { ...PAGE.limit, description: 'How many jobs; 100 if it is not given.' },
      cursor: { ...PAGE.cursor, example: JOB_ID },
      state: {
        description: 'In this state.',
        schema: z.enum(NOTIFICATION_STATES),
        example: 'FINISHED',
      },
      appId: { description: 'For this app.', schema: id, example: 1 },
      tagId: { description: 'That name this tag as a target.', schema: id, example: 2 },
      publisher: {
        description: 'Submitted under this user name. None for a caller who may not see it.',
        schema: z.string(),
        example: 'demo-key-4fX2pQ7sLw0a',
      },
      from: {
        description: 'Accepted at this time or later.',
        schema: time,
        example: 1_577_836_800_000,
      },
      to: { description: 'Accepted before this time.', schema: time, example: 4_102_444_800_000 },
    },
    answers: { 200: jsonAnswer('A page of them.', z.array(listed), [ROW], LINK) },
    problems: [400],
  },
  getNotification: {
    summary: 'Everything that is known of a push job',
    path,
    answers: {
      200: jsonAnswer('The job.', job, {
        ...ROW,
        failureReasons: { Unregistered: 1 },
        audience: { tagIds: [2], filterTagIds: [], excludeTagIds: [], appIds: [1] },
        delivery: 'at-least-once',
        priority: 'normal',
        payload: { title: 'goal!', message: '1:0' },
        platforms: [{ appId: 1, platformId: 3, state: 'FINISHED', ...COUNTS }],
      }),
    },
    problems: [404],
  },
  listenToNotification: {
    summary: 'What becomes of a push job, while it runs',
    description:
      'Server-sent events. `progress` holds the whole job, as `getNotification` answers it: the first at once, then at most one a second, when something has changed. `end` follows the last one.',
    path,
    answers: {
      200: {
        description: 'Until the job has ended.',
        content: {
          'text/event-stream': {
            schema: z.string(),
            example: 'retry: 3000\n\nevent: end\ndata: {"state":"FINISHED"}\n\n',
          },
        },
      },
    },
    problems: [404],
  },
  changeNotification: {
    summary: 'Change a push job: its times, its priority, its rate',
    path,
    body: {
      schema: z.strictObject({
        sendAt: time.optional().meta({ description: 'Only before the job is due.' }),
        expiresAt: time.nullish().meta({ description: 'null: no end.' }),
        ...optionSchemas(CHANGEABLE_OPTIONS, ({ schema, nullMeans }) =>
          schema.nullish().meta({ description: `null: ${nullMeans}.` }),
        ),
      }),
      example: { expiresAt: '2030-01-01T12:00:00Z' },
    },
    answers: {
      200: jsonAnswer(
        'Changed.',
        z.object({
          id: jobId,
          state,
          sendAt: epochMs,
          expiresAt: epochMs.optional(),
          ...optionSchemas(CHANGEABLE_OPTIONS, ({ shownSchema }) => shownSchema),
        }),
        {
          id: JOB_ID,
          state: 'SCHEDULED',
          sendAt: 1_893_495_600_000,
          expiresAt: 1_893_499_200_000,
          priority: 'normal',
        },
      ),
    },
    problems: [400, 404, 409],
  },
  cancelNotification: control('Cancel a push job', 'CANCELLED'),
  pauseNotification: control('Pause a push job', 'PAUSED'),
  resumeNotification: control('Resume a push job', 'QUEUED'),
  getHistory: {
    summary: 'What the client has submitted, newest first',
    query: {
      page: {
        description: 'From 1 on.',
        schema: z.int().min(1).max(PAGE_MAX),
        example: 1,
      },
      count: {
        description: 'Rows of a page; 20 if it is not given.',
        schema: z.int().min(1).max(COUNT_MAX),
        example: 20,
      },
    },
    answers: {
      200: jsonAnswer(
        'A page.',
        z.array(z.object({ id: z.uuid(), userName: z.string(), status: state, time: epochMs })),
        [
          {
            id: '019c6f5e-8a53-7d0e-9d3a-6f5c3c0d1e52',
            userName: 'demo-super',
            status: 'FINISHED',
            time: 1_795_392_000_000,
          },
        ],
      ),
    },
    problems: [400],
  },
} as const satisfies Operations;
