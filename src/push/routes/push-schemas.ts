/** Schemas that push requests and answers share; bodies are read leniently (push-request.ts). */

import { z } from 'zod';
import { EXPRESSION_LENGTH_MAX } from '../../domain/audience-expression.ts';
import { SELECTOR_NAMES, SELECTORS } from '../../domain/notification.ts';
import { categoryName } from '../../domain/policies.ts';
import { optionSchemas, PUSH_OPTION_NAMES } from '../../domain/push-options.ts';
import { TAGS_PER_REQUEST_MAX } from '../../domain/tag.ts';
import type { Body } from '../../http/form-body.ts';
import { count, looseId, platformId, state, time } from '../../http/openapi/parts.ts';
import { done, refuse } from '../../http/result.ts';
import { payloadOrText } from './payload-schema.ts';
import type { AskedPush, PushRequest } from './push-request.ts';
import {
  CAPS_CHOICE,
  HOLD_SECONDS_MAX,
  readAudienceRequest,
  readPushRequest,
} from './push-request.ts';
import { localTimeRequest } from './waves.ts';

const oneOrSome = <T extends z.ZodType>(entry: T) =>
  z.union([z.array(entry).max(TAGS_PER_REQUEST_MAX), entry]);

const WHOM = {
  target:
    'Devices with any of these tags. One of the two fields of target tags is needed, or `audience`.',
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
    description:
      'Only these apps; by default every app that a target tag is connected to. An empty list is `400`.',
  }),
  platformIds: oneOrSome(z.union([platformId, z.string().regex(/^\d{1,10}$/)]))
    .nullish()
    .meta({
      description:
        'Only these platforms; by default every one. An unknown one, an empty list, and platforms that no app of the push is on are `400`.',
    }),
  audience: z.string().max(EXPRESSION_LENGTH_MAX).nullish().meta({
    description:
      'In place of the six fields of tags, never beside them: an expression over sourceIds and `#id` with `&&`, `||`, `!` and parentheses, at most 32 deep, with up to 1,000 tags; also over attributes (`@language = de`), segments (`$staff`) and `*`, every device with a subscription, with up to 20 tests and 4,000 characters.',
  }),
};
const categoryFields = {
  category: categoryName.nullish().meta({
    description:
      'What kind of push it is, by whose caps it goes: a category of the policies of the client. An unknown one is `400`. Absent: the default one.',
  }),
  caps: z.enum(CAPS_CHOICE).nullish().meta({
    description:
      '`respect` by default: devices that have had as many pushes as the caps of the category allow are left out, and counted in `withheldCount`. `ignore`: nobody is; it counts towards the caps of later pushes. A key needs the scope `override` for it.',
  }),
};
export const audienceRequest = z
  .strictObject({
    ...audienceFields,
    approximate: z.boolean().nullish().meta({
      description:
        'Look at 16 device groups of each app and platform at most, evenly apart, and conclude from them: at once, however many devices there are, and the nearer the more of them match. Up to 131,072 devices it is exact.',
    }),
    ...categoryFields,
  })
  .meta({ id: 'AudienceRequest' });

export const pushRequest = z
  .strictObject({
    ...audienceFields,
    payload: payloadOrText,
    sendAt: time.nullish().meta({ description: 'Not before this time. In the past: now.' }),
    holdSeconds: z.int().min(1).max(HOLD_SECONDS_MAX).nullish().meta({
      description:
        'In place of `sendAt`: so many seconds after it was accepted, in which a `cancel` takes it back before anybody has it.',
    }),
    ...localTimeRequest,
    expiresAt: time.nullish().meta({
      description:
        'Nobody gets it after this time. In the past, or not after `sendAt`: `400`. Null: no end.',
    }),
    ...optionSchemas(PUSH_OPTION_NAMES, ({ schema, about }) =>
      schema.nullish().meta({ description: about }),
    ),
    ...categoryFields,
    dryRun: z
      .boolean()
      .nullish()
      .meta({ description: 'Validate and count; send nothing. It takes no `Idempotency-Key`.' }),
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
export const unknownValues = z.record(z.string(), z.array(z.string())).optional().meta({
  description:
    'Values that tests of attributes name, and no device has, by attribute. Absent: it has no tests.',
});
export const withoutValue = z.record(z.string(), count).optional().meta({
  description:
    'For each attribute that is tested: how many of the devices that the tags address have no value of it, so that each test of it is false. Absent: none is tested.',
});
export const warnings = z.array(z.string()).optional().meta({
  description: 'What a phone will not do with it, though the push is valid. Absent: nothing.',
});
/** The counts of a push, by how its devices ended. */
export const counts = {
  totalCount: count.meta({
    description:
      'Devices that matched so far; it grows while `RUNNING`. In a final state it is the sum of the five counts, and of `withheldCount`; after a cancellation that takes a moment longer, for what was on its way is counted first.',
  }),
  successCount: count.meta({ description: 'Accepted by the provider.' }),
  failedCount: count.meta({
    description: 'Refused for good, or still failing when the time for retries was over.',
  }),
  skippedCount: count.meta({
    description: 'Due for a retry, but erased or no longer matching by then.',
  }),
  expiredCount: count.meta({ description: 'Not accepted before `expiresAt`.' }),
  cancelledCount: count.meta({ description: 'Not sent, because the job was cancelled.' }),
};
export const withheld = {
  withheldCount: count.optional().meta({
    description: 'Left out by a policy of the client; a part of `totalCount`. Absent: nobody.',
  }),
  withheldReasons: z
    .object({
      frequencyCap: count.meta({ description: 'Had as many as a cap of the category allows.' }),
    })
    .optional()
    .meta({ description: 'The same, by reason.' }),
};
export const estimatedTotalCount = count.optional().meta({
  description:
    'About how many devices it is for, while it runs: `totalCount` grows as they are found. The parts of the audience that nobody has looked at count for the average of the others. Absent as long as nothing was looked at, and in the end.',
});
export const reasons = z.record(z.string(), count).meta({ description: 'Devices by reason.' });
/** The state of a push on one app and platform. */
export const standing = {
  state,
  ...counts,
  ...withheld,
  fault: z
    .string()
    .optional()
    .meta({ description: 'What stopped it: a sentence that says what to correct.' }),
  waitingFor: z.string().optional().meta({
    description:
      'What parts of it wait for at the moment: a provider that fails for everyone, or a quota that is used up; else the reason of the next retry.',
  }),
  failureReasons: reasons.optional(),
  uncertainCount: count
    .optional()
    .meta({ description: 'Sends whose outcome is unknown and that were scheduled again.' }),
  heldDeletionCount: count.optional().meta({
    description:
      'Devices that were reported dead in such numbers that none is erased before an operator decides.',
  }),
  parkedCount: count.optional().meta({
    description:
      'Of the failed ones: those whose part of the send could not be completed. An operator can send it again.',
  }),
  simulated: z
    .literal(true)
    .optional()
    .meta({ description: 'A simulator stands in for the provider.' }),
};
export const COUNTS = {
  totalCount: 10,
  successCount: 9,
  failedCount: 1,
  skippedCount: 0,
  expiredCount: 0,
  cancelledCount: 0,
};
