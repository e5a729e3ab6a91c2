/**
 * Schemas that requests for pushes and their answers share. The bodies are read leniently, by hand
 * (push-request.ts).
 */

import { z } from 'zod';
import { EXPRESSION_LENGTH_MAX } from '../../domain/audience-expression.ts';
import { SELECTOR_NAMES, SELECTORS } from '../../domain/notification.ts';
import { payloadFields } from '../../domain/payload.ts';
import { optionSchemas, PUSH_OPTION_NAMES } from '../../domain/push-options.ts';
import { TAGS_PER_REQUEST_MAX } from '../../domain/tag.ts';
import type { Body } from '../../http/form-body.ts';
import { count, looseId, state, time } from '../../http/openapi/parts.ts';
import { done, refuse } from '../../http/result.ts';
import type { AskedPush, PushRequest } from './push-request.ts';
import { readAudienceRequest, readPushRequest } from './push-request.ts';

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
const payload = z.looseObject({ ...payloadFields.shape, body: z.string().optional() }).meta({
  id: 'Payload',
  description:
    'What the push shows and carries. `body` is another name of `message`; any other field becomes data.',
});
const otherForm = z.looseObject({}).meta({
  description:
    'A payload with texts in several languages, or any object, where each app and platform of the push has a template that makes a payload of it.',
});
export const payloadOrText = z.union([
  payload,
  otherForm,
  z.string().meta({ description: 'The same, as a string that holds JSON.' }),
]);

export const audienceRequest = z
  .strictObject({
    ...audienceFields,
    approximate: z.boolean().nullish().meta({ description: 'Count by a sample, at once.' }),
  })
  .meta({ id: 'AudienceRequest' });

export const pushRequest = z
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

export const JOB_ID = '019c6f5e-8a53-7d0e-9d3a-6f5c3c0d1e52';
export const PUSH = { tagIds: [2], payload: { title: 'goal!', message: '1:0' } };

const asked = (read: PushRequest) => (read.ok ? done(read) : refuse.invalid(read.faults));

export const pushBody: Body<AskedPush> = {
  schema: pushRequest,
  example: PUSH,
  read: ({ body }) => asked(readPushRequest(body)),
};

export const audienceBody: Body<AskedPush> = {
  schema: audienceRequest,
  example: { tagIds: PUSH.tagIds },
  read: ({ body }) => asked(readAudienceRequest(body)),
};

export const unknownTags = z.array(z.union([z.int(), z.string()])).meta({
  description: 'Target and filter tags that are unknown or expired.',
});
export const warnings = z.array(z.string()).optional().meta({
  description: 'What a phone will not do with it, though the push is valid. Absent: nothing.',
});
/** The counts of a push, by how its devices ended. */
export const counts = {
  totalCount: count,
  successCount: count.meta({ description: 'Accepted by the provider.' }),
  failedCount: count,
  skippedCount: count,
  expiredCount: count,
  cancelledCount: count,
};
export const reasons = z.record(z.string(), count).meta({ description: 'Devices by reason.' });
/** The state of a push on one app and platform. */
export const standing = {
  state,
  ...counts,
  fault: z.string().optional().meta({ description: 'What stopped it.' }),
  waitingFor: z.string().optional().meta({ description: 'What it waits for.' }),
  failureReasons: reasons.optional(),
  uncertainCount: count.optional().meta({ description: 'Sends whose outcome is not known.' }),
  heldDeletionCount: count.optional().meta({ description: 'Devices that an operator may erase.' }),
  parkedCount: count.optional(),
  simulated: z.literal(true).optional(),
};
export const COUNTS = {
  totalCount: 10,
  successCount: 9,
  failedCount: 1,
  skippedCount: 0,
  expiredCount: 0,
  cancelledCount: 0,
};
