/**
 * What the OpenAPI document says of submitting a push and of asking what it would be. The audience
 * is read leniently, by hand (push-request.ts).
 */

import { z } from 'zod';
import { EXPRESSION_LENGTH_MAX } from '../../domain/audience-expression.ts';
import { SELECTOR_NAMES, SELECTORS } from '../../domain/notification.ts';
import { payloadFields } from '../../domain/payload.ts';
import { optionSchemas, PUSH_OPTION_NAMES } from '../../domain/push-options.ts';
import { TAGS_PER_REQUEST_MAX } from '../../domain/tag.ts';
import type { Operation, Operations } from '../../http/openapi/operation.ts';
import {
  count,
  id,
  jsonAnswer,
  looseId,
  platformId,
  scopeCount,
  state,
  time,
} from '../../http/openapi/parts.ts';
import { PROVIDERS } from '../../providers/providers.ts';
import { IDEMPOTENCY_KEY_LENGTH_MAX } from './push.ts';
import { testForm } from './test-send.ts';

const jobId = z.uuid().meta({ description: 'The id of the push job, a UUIDv7.' });
const oneOrSome = <T extends z.ZodType>(entry: T) =>
  z.union([z.array(entry).max(TAGS_PER_REQUEST_MAX), entry]);

const WHOM = {
  target: 'Devices with any of these tags. One of the two fields of target tags is needed.',
  filter: 'Only devices that also have all of these.',
  exclude: 'No device that has any of these.',
} as const;
const audienceFields = {
  ...Object.fromEntries(
    SELECTOR_NAMES.flatMap((name) => [
      [SELECTORS[name].ids, oneOrSome(looseId).nullish().meta({ description: WHOM[name] })],
      [
        SELECTORS[name].sourceIds,
        oneOrSome(z.string())
          .nullish()
          .meta({ description: `${WHOM[name]} By their sourceIds.` }),
      ],
    ]),
  ),
  appIds: oneOrSome(looseId).nullish().meta({
    description: 'Only these apps; by default every app that a target tag is connected to.',
  }),
  audience: z.string().max(EXPRESSION_LENGTH_MAX).nullish().meta({
    description:
      'In place of the fields of tags: an expression over sourceIds and `#id` with `&&`, `||`, `!` and parentheses.',
  }),
};
const estimate = z
  .strictObject({
    ...audienceFields,
    approximate: z.boolean().nullish().meta({ description: 'Count by a sample, at once.' }),
  })
  .meta({ id: 'AudienceRequest' });

export const payload = z.looseObject({ ...payloadFields.shape, body: z.string().optional() }).meta({
  id: 'Payload',
  description:
    'What the push shows and carries. `body` is another name of `message`; any other field becomes data.',
});
const otherForm = z.looseObject({}).meta({
  description:
    'A payload with texts in several languages, or any object, where each app and platform of the push has a template that makes a payload of it.',
});
const payloadOrText = z.union([
  payload,
  otherForm,
  z.string().meta({ description: 'The same, as a string that holds JSON.' }),
]);

const push = z
  .strictObject({
    ...audienceFields,
    payload: payloadOrText,
    sendAt: time.nullish(),
    expiresAt: time.nullish(),
    ...optionSchemas(PUSH_OPTION_NAMES, ({ schema, about }) =>
      schema.nullish().meta({ description: about }),
    ),
    dryRun: z.boolean().nullish().meta({ description: 'Validate and count; send nothing.' }),
  })
  .meta({ id: 'PushRequest' });

const unknownTags = z.array(z.union([z.int(), z.string()])).meta({
  description: 'Target and filter tags that are unknown or expired.',
});
const warnings = z.array(z.string()).optional().meta({
  description: 'What a phone will not do with it, though the push is valid. Absent: nothing.',
});
const accepted = z.object({ id: jobId, state, unknownTags, warnings }).meta({ id: 'AcceptedPush' });
const dryRun = z
  .object({ dryRun: z.literal(true), audience: z.array(scopeCount), unknownTags, warnings })
  .meta({ id: 'DryRun' });

const idempotencyKey = {
  'Idempotency-Key': {
    description:
      'A repeated request with the same key and body within 24 hours is answered with the first job, and sends nothing again. The super user, each further key and each account have keys of their own.',
    schema: z.string().min(1).max(IDEMPOTENCY_KEY_LENGTH_MAX),
    example: 'goal-1',
  },
} as const;

const JOB_ID = '019c6f5e-8a53-7d0e-9d3a-6f5c3c0d1e52';
const PUSH = { tagIds: [2], payload: { title: 'goal!', message: '1:0' } };
const ACCEPTED = { id: JOB_ID, state: 'QUEUED', unknownTags: [] };
const DRY_RUN = {
  dryRun: true,
  audience: [{ appId: 1, platformId: 3, count: 1 }],
  unknownTags: [],
};
const submits = {
  headers: idempotencyKey,
  body: { schema: push, example: PUSH },
  problems: [400, 422],
} as const satisfies Pick<Operation, 'headers' | 'body' | 'problems'>;

export const pushOperations = {
  push: {
    summary: 'Submit a push to tags',
    description: 'Every device of the audience gets it once. What is accepted survives a crash.',
    ...submits,
    answers: {
      200: {
        description:
          'The id of the push job. JSON for callers that prefer it, and for a dry run in any case.',
        content: {
          'text/plain': { schema: jobId, example: JOB_ID },
          'application/json': { schema: z.union([accepted, dryRun]), example: ACCEPTED },
        },
      },
    },
  },
  createNotification: {
    summary: 'Submit a push job',
    description: 'Every device of the audience gets it once. What is accepted survives a crash.',
    ...submits,
    answers: {
      200: jsonAnswer('The count of a dry run.', dryRun, DRY_RUN),
      202: jsonAnswer('Accepted.', accepted, ACCEPTED, { Location: 'Where the job is.' }),
    },
  },
  previewNotification: {
    summary: 'Show what a push would be on each platform',
    description: 'Nothing is sent.',
    body: { schema: push, example: PUSH },
    answers: {
      200: jsonAnswer(
        'Each different message, its size, and the apps, platforms and audiences that it is for.',
        z.object({
          preview: z.array(
            z.object({
              appId: id,
              platformId,
              provider: z.string(),
              count,
              templated: z.literal(true).optional().meta({ description: 'A template made it.' }),
              sizeBytes: count,
              sizeBytesMax: count,
              message: z.unknown().meta({ description: 'What the provider would get.' }),
              languages: z
                .array(
                  z.object({ tagSourceId: z.string(), sizeBytes: count, message: z.unknown() }),
                )
                .optional()
                .meta({ description: 'The message for devices with a tag of a language.' }),
              alsoFor: z
                .array(scopeCount)
                .optional()
                .meta({ description: 'Other apps whose devices would get the same.' }),
            }),
          ),
          notShown: z.array(scopeCount).optional().meta({
            description: 'Apps whose messages the answer has no room for: name them in `appIds`.',
          }),
          unknownTags,
          warnings,
        }),
        {
          preview: [
            {
              appId: 1,
              platformId: 3,
              provider: PROVIDERS[3].name,
              count: 1,
              sizeBytes: 106,
              sizeBytesMax: 4096,
              message: { aps: { alert: { title: 'goal!', body: '1:0' } } },
            },
          ],
          unknownTags: [],
        },
      ),
    },
    problems: [400],
  },
  estimateAudience: {
    summary: 'Count an audience, and tell how it is found',
    body: {
      schema: estimate,
      example: { tagIds: [2] },
    },
    answers: {
      200: jsonAnswer(
        'Devices of each app and platform, and the plan in words.',
        z.object({
          audience: z.array(scopeCount),
          plan: z.array(z.string()),
          unknownTags,
          approximate: z.literal(true).optional(),
        }),
        {
          audience: DRY_RUN.audience,
          plan: ['Devices that have tag 2.', '1 devices, each once.'],
          unknownTags: [],
        },
      ),
    },
    problems: [400],
  },
  testNotification: {
    summary: 'Send one message to one device',
    description: 'Answered with the answer of the provider. One a second.',
    body: {
      schema: testForm.extend({ deviceId: z.string().min(1).max(4_096), payload: payloadOrText }),
      example: {
        appId: 1,
        platformId: 3,
        deviceId: 'ab'.repeat(32),
        payload: { title: 'A trial' },
      },
    },
    answers: {
      200: jsonAnswer(
        'What the provider answered.',
        z.object({
          accepted: z.boolean(),
          outcome: z.string().optional(),
          reason: z.string().optional(),
          meaning: z.string().optional(),
          simulated: z.literal(true).optional(),
          warnings,
        }),
        { accepted: true, simulated: true },
      ),
    },
    problems: [400, 404, 429],
  },
} as const satisfies Operations;
