/** `POST …/notifications/<id>/retry`: a job again, for those whom it has not reached. */

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { changedNumbers } from '../../../packages/std/src/json-numbers.ts';
import type { PlatformId } from '../../../packages/std/src/platforms.ts';
import { PLATFORM_LABELS } from '../../../packages/std/src/platforms.ts';
import { recordChange } from '../../audit/record-change.ts';
import { shareClient } from '../../clients/lock-client.ts';
import type { Sql } from '../../database/sql.ts';
import { readExpression } from '../../domain/audience-expression.ts';
import type { Caller } from '../../domain/caller.ts';
import { publisherOf } from '../../domain/caller.ts';
import type { Correction } from '../../domain/notification.ts';
import { bySelector, SELECTORS } from '../../domain/notification.ts';
import { givenPayload } from '../../domain/payload.ts';
import { isPassedOnIn } from '../../domain/payload-digits.ts';
import type { PushOptions } from '../../domain/push-options.ts';
import { PUSH_OPTION_NAMES } from '../../domain/push-options.ts';
import { originOf } from '../../http/audit-origin.ts';
import type { ApiRoute, HttpRequest, HttpResponse } from '../../http/handler.ts';
import { parseObject } from '../../http/json-body.ts';
import { LenientReader } from '../../http/lenient.ts';
import { jsonAnswer, platformId } from '../../http/openapi/parts.ts';
import type { Fault } from '../../http/problem.ts';
import type { Refusal } from '../../http/result.ts';
import { answerRefusal, refuse, refused } from '../../http/result.ts';
import type { Accept } from '../accept/accept.ts';
import type { Push } from '../accept/push.ts';
import type { RetryAnswer } from '../accept/retry.ts';
import type { ReachGone } from '../sql/notifications/insert-retry.ts';
import type { RetriedNotification } from '../sql/notifications/read-retried.ts';
import { readRetried } from '../sql/notifications/read-retried.ts';
import { mayIgnoreCaps, NO_OVERRIDE } from './hold-to-policies.ts';
import { JOBS_PATH, jobId, jobPath, NO_JOB } from './job.ts';
import { limitPush } from './limit-push.ts';
import { payloadOrText } from './payload-schema.ts';
import {
  acceptanceAnswer,
  acceptedAt,
  idempotencyKeyFaults,
  idempotentBy,
  publisherIn,
  submission,
  tooManyDevices,
} from './push.ts';
import type { PushPayload } from './push-request.ts';
import { asSentence, payloadOf, readPlatformIds, unknownFieldFaults } from './push-request.ts';
import { JOB_ID } from './push-schemas.ts';

const DAY_MS = 86_400_000;
const FIELDS = ['platformIds', 'payload'] as const;

const retryRequest = z
  .object({
    platformIds: z.array(platformId).nullish().meta({
      description: 'Only there. Absent: on every platform where a part of the job has failed.',
    }),
    payload: payloadOrText.nullish().meta({
      description: "In place of the job's. Absent: the same message, as it was rendered then.",
    }),
  })
  .meta({ id: 'RetryRequest' });
const retried = z
  .object({
    id: jobId.meta({ description: 'The id of the new push job.' }),
    retries: jobId.meta({
      description: 'The job that was sent first. A retry of a retry has the same one.',
    }),
  })
  .meta({ id: 'Retry' });

interface RetryRouteParts {
  readonly accept: Accept;
  readonly sql: Sql;
  readonly reachRetentionDays: number;
}

export const retryRoute = (parts: RetryRouteParts): ApiRoute => ({
  ...submission,
  operation: 'retryNotification',
  document: {
    summary: 'Send a push job again to those whom it has not reached',
    description: `For a job of which parts have ended by a fault of a credential or of the message, when that is mended. A new job goes to the audience of now, of the apps and platforms where devices have failed, without those in the \`reach\` of the first job and of its earlier retries. So no device gets it twice, also after an unknown outcome, and who has registered since gets it too. One exception: a part that a node before version 0053 of the database took over during the upgrade may be unknown to the reach.

The audience is that of the job as it was accepted; so are \`delivery\`, \`priority\` and \`ratePerSecond\`. It is sent now, and does not pause by itself. It ends an hour before the reach is removed; \`expiresAt\` is that of the job, if it has one, but not later than this.

- \`409\`: the job, or another retry of it, is under way (the answer names it); it was cancelled; its \`expiresAt\` has passed; it is a correction (correct again); it was at local time and left out devices whose time had passed (\`SKIPPED\` waves); nothing has failed on these platforms (the answer names others); parts are parked, which an operator may release; it was retracted, or corrected and the request gives no payload; or it was retried and corrected 16 times.
- \`410\`: its reach was removed, or is removed within an hour (\`REACH_RETENTION_DAYS\`, 7, from its first send), or is \`incomplete\`: some would get the message a second time.
- \`403\`: the job is another publisher's, and the key sees only its own; the job ignores caps, which the key may not (scope \`override\`); or the audience there, those who are left out included, is larger than the key's \`maxDevices\`.
- \`503\`: nodes of an earlier version are at work, which would send it to everybody.`,
    headers: idempotentBy('retry-1'),
    path: jobPath,
    body: { schema: retryRequest, example: { platformIds: [3] } },
    answers: {
      202: jsonAnswer(
        'Accepted.',
        retried,
        { id: JOB_ID, retries: JOB_ID },
        {
          Location: 'Where the new job is.',
        },
      ),
    },
    problems: [400, 404, 409, 410, 422],
  },
  path: `${JOBS_PATH}/:id/retry`,
  handle: async (request, caller) => {
    const answer = await retry(parts, request, caller);
    return 'ok' in answer ? answerRefusal(request, answer) : answer;
  },
});

async function retry(
  { accept, sql, reachRetentionDays }: RetryRouteParts,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse | Refusal> {
  const id = jobPath.id.read(request.params['id'] ?? '');
  if (id === null) return NO_JOB;
  const read = readRetryRequest(request.body);
  const faults = [...idempotencyKeyFaults(request), ...(read.ok ? [] : read.faults)];
  if (!read.ok || faults.length > 0) return refuse.invalid(faults);
  const job = await readRetried(sql, caller.clientId, id);
  if (job === null) return NO_JOB;
  const seen = publisherOf(caller);
  if (seen !== null && seen !== job.userName) return refused(403, NOT_SEEN);
  // It takes the caps of the job over, so it would ignore them too.
  if (job.ignoresCaps && !mayIgnoreCaps(caller)) return NO_OVERRIDE;
  const limited = await limitPush(sql, caller, pushOf(job, read));
  if (!limited.ok) return refused(403, limited.why);
  const bodyHash = createHash('sha256').update(id).update(request.body).digest();
  const answer = await accept.retry({
    job,
    push: limited.push,
    given: read.payload?.given ?? null,
    publisher: publisherIn(request, caller, bodyHash),
    devicesMax: caller.key?.maxDevices ?? null,
    reachKeptMs: reachRetentionDays * DAY_MS,
    hold: (tx) => shareClient(tx, caller.clientId),
    record: async (tx, by) => {
      const change = { action: 'notification.retry', id, name: null, detail: { by } } as const;
      await recordChange(tx, originOf(request, caller), change);
    },
  });
  return answerTo(request, caller, { job, reachRetentionDays }, answer);
}

interface AnsweredRetry {
  readonly job: RetriedNotification;
  readonly reachRetentionDays: number;
}

export const NOT_SEEN =
  'This key sees and controls its own push jobs only, and this is another one.';

function answerTo(
  request: HttpRequest,
  caller: Caller,
  { job, reachRetentionDays }: AnsweredRetry,
  answer: RetryAnswer,
): HttpResponse | Refusal {
  switch (answer.kind) {
    case 'under-way':
      return refused(
        409,
        answer.id === job.id
          ? `This push job is ${answer.state}: it can be retried when it has ended.`
          : `The push job ${answer.id} of the same message is ${answer.state}: a retry can follow when it has ended.`,
      );
    case 'is-correction':
      return refused(
        409,
        answer.correction === 'correct'
          ? `This push job is a correction of ${job.first}: correct that again.`
          : `This push job is a retraction of ${job.first}: retract that again.`,
      );
    case 'cancelled':
      return refused(409, 'This push job was cancelled: what it did not reach was not to get it.');
    case 'expired':
      return refused(
        409,
        'The expiresAt of this push job has passed: nothing of it is sent any more.',
      );
    case 'waves-skipped':
      return refused(409, WAVES_SKIPPED);
    case 'nothing-failed':
      return refused(409, nothingFailed(answer.failedOn));
    case 'too-many-devices':
      return tooManyDevices(answer.devices, caller.key?.maxDevices ?? 0);
    case 'busy':
      return refuse.tooMuchCounted;
    case 'parked':
      return refused(
        409,
        `Parts of the push job ${answer.id} are parked, and an operator may release them (tagcast parked release ${answer.id}): a retry can follow when they have ended.`,
      );
    case 'too-many':
      return refused(
        409,
        `This push job was retried and corrected ${answer.max} times, which is the limit.`,
      );
    case 'corrected':
      return refused(409, whyCorrected(answer));
    case 'reach-gone':
      return refused(410, `${whyGone(answer, job.first, reachRetentionDays)} ${TWICE}`);
    case 'reach-incomplete':
      return refused(
        410,
        `It is not known whom a part of the push job ${answer.id} has reached (reach.incomplete). ${TWICE}`,
      );
    default:
      return acceptanceAnswer(request, answer, (_, { id }) =>
        acceptedAt(caller, id, { id, retries: job.first }),
      );
  }
}

const whyCorrected = ({ id, correction }: { id: string; correction: Correction }): string =>
  correction === 'correct'
    ? `This push job was corrected by ${id}: give the payload that a retry is to send.`
    : `This push job was retracted by ${id}: nothing of it is sent again.`;

const WAVES_SKIPPED =
  'This push job was at local time, and left out devices whose time had passed: a retry would send to them.';

const TWICE = 'A retry would send to some a second time.';

/** `failedOn`: empty unless the request named other platforms. */
const nothingFailed = (failedOn: readonly PlatformId[]): string =>
  failedOn.length === 0
    ? 'Nothing of this push job has failed: a retry has nothing to send.'
    : `Nothing of this push job has failed there: it has on platform ${platformList(failedOn)}.`;

const platformList = (ids: readonly PlatformId[]): string =>
  new Intl.ListFormat('en-GB').format(ids.map((id) => `${id} (${PLATFORM_LABELS.get(id)})`));

export function whyGone(
  gone: ReachGone,
  first: string,
  days: number,
  what: 'retry' | 'correction' | 'retraction' = 'retry',
): string {
  const kept = `(REACH_RETENTION_DAYS: ${days})`;
  switch (gone.why) {
    case 'first-deleted':
      return `The push job that was sent first, ${first}, was deleted, and with it whom it has reached.`;
    case 'removed':
      return `It was removed whom this push job has reached ${kept}.`;
    case 'began-long-ago':
      return `The first send began at ${timeOf(gone.atMs)}, longer ago than it is kept whom one has reached ${kept}.`;
    case 'ends-soon':
      return `A ${what} was possible until ${timeOf(gone.atMs)}: an hour later it is removed whom this push job has reached ${kept}.`;
  }
}

const timeOf = (ms: number): string => new Date(ms).toISOString();

type RetryRequest =
  | {
      readonly ok: true;
      readonly platformIds: readonly number[] | null;
      /** Null: that of the job. */
      readonly payload: PushPayload | null;
    }
  | { readonly ok: false; readonly faults: readonly Fault[] };

/** An empty body asks for nothing in particular. */
function readRetryRequest(body: Buffer): RetryRequest {
  if (body.length === 0) return { ok: true, platformIds: null, payload: null };
  const parsed = parseObject(body);
  if (!parsed.ok) return parsed;
  const read = parsed.value;
  const reader = new LenientReader(read);
  const platformIds = readPlatformIds(reader, read);
  reader.faults.push(...unknownFieldFaults(read, FIELDS, 'a retry'));
  if (read['payload'] === undefined || read['payload'] === null) {
    return reader.faults.length > 0
      ? { ok: false, faults: reader.faults }
      : { ok: true, platformIds, payload: null };
  }
  const given = givenPayload(read['payload']);
  if (given.ok) {
    reader.faults.push(...changedNumbers(parsed.text, isPassedOnIn('payload')).map(asSentence));
  }
  if (!given.ok) return { ok: false, faults: [...reader.faults, ...given.faults] };
  if (reader.faults.length > 0) return { ok: false, faults: reader.faults };
  return { ok: true, platformIds, payload: payloadOf(given.given) };
}

const optionsOf = (job: PushOptions): PushOptions =>
  Object.fromEntries(PUSH_OPTION_NAMES.map((name) => [name, job[name]])) as PushOptions;

/** The job as a push that its caller may, or may not, submit. */
const pushOf = (
  job: RetriedNotification,
  { platformIds, payload }: Extract<RetryRequest, { readonly ok: true }>,
): Push => ({ ...pushAgain(job), platformIds, ...(payload ?? { payload: job.payload }) });

/** The audience and the options of a job as a push, without its content. */
export function pushAgain(
  job: PushOptions &
    Pick<RetriedNotification, 'audience' | 'expression'> & { readonly expiresAtMs: number | null },
): Omit<Push, 'payload'> {
  const { audience, expression, expiresAtMs } = job;
  const read = expression === null ? null : readExpression(expression, { isExpanded: true });
  return {
    ...bySelector((selector) => ({
      ids: read?.ok ? [] : audience[SELECTORS[selector].list],
      sourceIds: [],
    })),
    ...(read?.ok ? { expression: read.expression } : {}),
    appIds: null,
    platformIds: null,
    options: { ...optionsOf(job), pauseAfter: null },
    sendAtMs: null,
    expiresAtMs,
  };
}
