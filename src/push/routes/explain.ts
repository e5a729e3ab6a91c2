/** `apps/<id>/devices/explain`: why a device got, or did not get, a push. */

import { z } from 'zod';
import { findOwnApp } from '../../catalogue/routes/own-app.ts';
import type { SqlPool } from '../../database/sql.ts';
import { EXPLAINED_EVENT_KINDS } from '../../devices/explained-device.ts';
import { deviceRef } from '../../devices/operation.ts';
import {
  EXPRESSION_LENGTH_MAX,
  readExpression,
  segmentsOf,
} from '../../domain/audience-expression.ts';
import type { Caller } from '../../domain/caller.ts';
import { isLimited, publisherOf, seesPersonal } from '../../domain/caller.ts';
import { readJobId } from '../../domain/job-id.ts';
import { secret, shown } from '../../http/answers.ts';
import { deviceId } from '../../http/device-id-form.ts';
import { form } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { id as idForm } from '../../http/id-form.ts';
import { epochMs, orAbsent, state, word } from '../../http/openapi/parts.ts';
import { pathId } from '../../http/parameters.ts';
import type { Result } from '../../http/result.ts';
import { done, refuse, refused } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { isStorable } from '../../std/name-text.ts';
import { strictForm } from '../../std/strict-form.ts';
import type { Explanation } from '../explain/explain.ts';
import { explain } from '../explain/explain.ts';
import { expandPush } from './expand-push.ts';
import type { JobReads } from './get.ts';
import { jobId, NO_JOB } from './job.ts';
import { limitApps } from './limit-push.ts';
import { pushTo } from './push-request.ts';
import { standing } from './push-schemas.ts';
import { standingOf } from './status.ts';

interface ExplainParts extends JobReads {
  readonly sql: SqlPool;
}

const ID_FAULT = 'must be the id of a push job';
const AUDIENCE_FAULT = `must be an expression: a string of 1–${EXPRESSION_LENGTH_MAX} characters, without NUL`;
const ONE_OF_TWO = 'give either notificationId or audience';

const explainForm = strictForm({
  platformId: idForm,
  deviceId,
  notificationId: z
    .string(ID_FAULT)
    .refine((text) => readJobId(text) !== null, ID_FAULT)
    .optional()
    .meta({ description: 'Ask about this push job, or about an `audience`.' }),
  audience: z
    .string(AUDIENCE_FAULT)
    .min(1, AUDIENCE_FAULT)
    .max(EXPRESSION_LENGTH_MAX, AUDIENCE_FAULT)
    .refine(isStorable, AUDIENCE_FAULT)
    .optional()
    .meta({ description: 'An expression, as `audience` of a push.' }),
}).refine(
  ({ notificationId, audience }) => (notificationId === undefined) !== (audience === undefined),
  {
    path: ['notificationId'],
    message: ONE_OF_TWO,
  },
);

const text = z.string();
const because = z.object({
  kind: word([
    'tag',
    'attribute',
    'everybody',
    'app',
    'platform',
    'registered',
    'planned',
    'reached-before',
    'not-reached',
    'nobody',
  ]).meta({
    description:
      'What it asks for: a tag, a test of an attribute, `*`. The others are limits of the send, and are listed only where they keep the device out: its apps, their platforms, that the device registered after the send was planned, that nobody of its app and platform was in the audience then, that the job which a retry repeats had reached it before, that no job which a correction corrects has reached it, and that no target tag is known.',
  }),
  operand: text.meta({
    description: 'As in an expression, with its `!`. Segments are in their places.',
  }),
  value: orAbsent(z.union([z.string(), z.number(), z.boolean()])).meta({
    description:
      'What the device has: of a tag whether it has it, of an attribute its value. Absent: it has no value, or there is no such tag, or it has expired, or the name had no meaning when the job was accepted.',
  }),
  held: z
    .boolean()
    .meta({ description: 'Whether the device meets the operand, its `!` included.' }),
});
const event = z.object({
  kind: word(EXPLAINED_EVENT_KINDS).meta({
    description:
      'A send that failed; that it was removed, because its provider called it dead or refused it again and again; that its token was replaced by another one; when it last registered, or up to a day earlier; that it unsubscribed from everything.',
  }),
  at: epochMs,
  notificationId: orAbsent(jobId),
  reason: orAbsent(text),
});
const explanation = z
  .object({
    known: z.boolean().meta({ description: 'Whether the device is registered now.' }),
    inAudience: z.boolean().meta({
      description:
        'By its tags and attributes of now: what it had when a job was sent is not kept.',
    }),
    because: z.array(because).meta({
      description: 'In the order of the expression; empty for a device that is not known.',
    }),
    reached: z
      .union([z.boolean(), z.literal(['unknown', 'gone'])])
      .optional()
      .meta({
        description:
          '`true`: its provider accepted the message of the job, or nobody knows whether it did. `unknown`: it may have, as while the job is under way, and of a device that was removed since. `gone`: the reach of the job is not kept any more. Absent: an audience was asked about.',
      }),
    withheld: z
      .object({
        reason: word(['frequencyCap']),
        category: text,
        cap: z.object({ max: z.int(), per: text, of: text.optional() }).optional().meta({
          description:
            'The cap of the category. Absent: it has several, and it is not kept which one it was.',
        }),
      })
      .optional()
      .meta({
        description:
          'What has left the device out of the job, though it was in the audience. Absent: nothing, or it is not kept any more (7 days).',
      }),
    state: orAbsent(state).meta({
      description:
        'Of the part of the job for the app and platform of the device. Absent: it has none.',
    }),
    fault: text.optional().meta({ description: 'What stopped that part: a sentence.' }),
    simulated: standing.simulated,
    wave: z
      .object({
        at: epochMs,
        zone: orAbsent(text.meta({ description: 'Its time zone. Absent: it has none.' })),
        isSkipped: z.boolean().meta({
          description: 'The time had passed when the push was accepted: nothing was sent.',
        }),
      })
      .optional()
      .meta({
        description:
          'Of a push at local time: the wave of the time zone that the device has now. Absent of any other, and where no wave has its zone.',
      }),
    lastEvents: z.array(event).meta({
      description:
        'What is kept of the device, newest first: 20 events of 30 days, those of the job before others, its last registration and its end.',
    }),
  })
  .meta({ id: 'DeviceExplanation' });

const DEVICE = { platformId: 3, deviceId: 'cd'.repeat(32) };

export const explainRoute = ({ sql, patientReads, reachRetentionDays }: ExplainParts): Route =>
  routesAt('/push-admin-api/v3/:client/apps/:id/devices', { api: 'admin', needs: 'read' }).post(
    'explainDevice',
    {
      at: 'explain',
      summary: 'Explain why a device got, or did not get, a push',
      description:
        'Ask about a push job or about an audience. Each operand of the audience is answered with what the device has. `404`: there is no such app or job. Not for keys that are limited to tags or groups; a key that is limited to apps names no segments. A job, or an audience, that tests a personal attribute is explained to the super user and owners, to no key. All that is `403`.',
      path: { id: pathId('app', 1) },
      body: form(explainForm, { ...DEVICE, audience: 'breaking-news && @language = de' }),
      answer: secret(
        shown('Whether it is in the audience and why, and what became of the send.', explanation, {
          known: true,
          inAudience: true,
          because: [
            { kind: 'tag', operand: 'breaking-news', value: true, held: true },
            { kind: 'attribute', operand: '@language = de', value: 'de-CH', held: true },
          ],
          lastEvents: [{ kind: 'registered', at: 1_795_392_000_000 }],
        }),
      ),
      problems: [400],
    },
    async ({ caller, path, body }) => {
      const own = await findOwnApp(sql, caller, path.id);
      if (!own.ok) return own;
      const { platformIds } = own.value;
      if (!platformIds.includes(body.platformId)) {
        const message = `must be one that the app is on: ${platformIds.join(', ')}`;
        return refuse.invalid([{ path: 'platformId', message }]);
      }
      const of = await thingOf(sql, caller, body);
      if (!of.ok) return of;
      const request = {
        clientId: caller.clientId,
        publisher: publisherOf(caller),
        seesPersonal: seesPersonal(caller),
        reachRetentionDays,
        device: deviceRef(path.id, body.platformId, body.deviceId),
        of: of.value,
      };
      const read = await patientReads.run(caller.clientId, (patient) => explain(patient, request));
      if (read.kind === 'busy') return refuse.tooMuchCounted;
      switch (read.result.kind) {
        case 'unknown-job':
          return NO_JOB;
        case 'invalid':
          return refuse.invalid(read.result.faults);
        case 'personal':
          return refused(403, whyPersonal(read.result.name));
        case 'explained':
          return done(answerOf(read.result.explanation));
      }
    },
  );

const whyPersonal = (name: string | null): string =>
  name === null
    ? 'It tests an attribute that was deleted, and may have been personal: only the super user and owners may have it explained.'
    : `@${name} is personal: only the super user and owners may have explained what tests it.`;

const NO_SEGMENTS = refused(
  403,
  'This key has limits and reads no segments: write the expression of the segment in its place.',
);

type Thing = Parameters<typeof explain>[1]['of'];

/** The job, or a push to the audience with its segments in their places. */
async function thingOf(
  sql: SqlPool,
  caller: Caller,
  {
    notificationId = '',
    audience,
  }: Pick<z.infer<typeof explainForm>, 'notificationId' | 'audience'>,
): Promise<Result<Thing>> {
  if (audience === undefined) return done(readJobId(notificationId) ?? '');
  const read = readExpression(audience);
  if (!read.ok) return refuse.invalid([{ path: 'audience', ...read.fault }]);
  // The answer would list what is in them.
  if (isLimited(caller) && segmentsOf(read.expression.root).length > 0) return NO_SEGMENTS;
  const { push, faults } = await expandPush(sql, caller, pushTo(read.expression));
  if (faults.length > 0) return refuse.invalid(faults);
  const limited = caller.key === undefined ? null : limitApps(caller.key, push);
  if (limited?.ok === false) return refused(403, limited.why);
  return done(limited?.push ?? push);
}

function answerOf({ part, ...answer }: Explanation) {
  if (part === null) return { ...answer, state: null };
  const { state, fault, simulated } = standingOf(part);
  return {
    ...answer,
    state,
    ...(fault === undefined ? {} : { fault }),
    ...(simulated === undefined ? {} : { simulated }),
  };
}
