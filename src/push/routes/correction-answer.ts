/** The common part of `correct` and `retract`: the job, the rights of its caller, the refusals. */

import { createHash } from 'node:crypto';
import { recordChange } from '../../audit/record-change.ts';
import { shareClient } from '../../clients/lock-client.ts';
import type { Sql } from '../../database/sql.ts';
import type { Caller } from '../../domain/caller.ts';
import { publisherOf } from '../../domain/caller.ts';
import { originOf } from '../../http/audit-origin.ts';
import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import type { Fault } from '../../http/problem.ts';
import type { Refusal } from '../../http/result.ts';
import { refuse, refused } from '../../http/result.ts';
import type { Accept } from '../accept/accept.ts';
import type { CorrectionAnswer, Deed } from '../accept/correct.ts';
import type { WhyNoCorrection } from '../sql/notifications/insert-correction.ts';
import type { CorrectedNotification } from '../sql/notifications/read-corrected.ts';
import { readCorrected } from '../sql/notifications/read-corrected.ts';
import { jobPath, NO_JOB } from './job.ts';
import { limitPush } from './limit-push.ts';
import {
  acceptanceAnswer,
  acceptedAt,
  idempotencyKeyFaults,
  publisherIn,
  tooManyDevices,
} from './push.ts';
import type { PushPayload } from './push-request.ts';
import { NOT_SEEN, pushAgain, whyGone } from './retry.ts';

const DAY_MS = 86_400_000;

export interface CorrectionRouteParts {
  readonly accept: Accept;
  readonly sql: Sql;
  readonly reachRetentionDays: number;
}

export type ReadDeed =
  /** `payload`: of a correction. */
  | { readonly ok: true; readonly deed: Deed; readonly payload: Partial<PushPayload> }
  | { readonly ok: false; readonly faults: readonly Fault[] };

/** `confirm`: the body of the answer, for the job that was corrected and the new one's id. */
export async function correctionAnswer(
  { accept, sql, reachRetentionDays }: CorrectionRouteParts,
  request: HttpRequest,
  caller: Caller,
  read: ReadDeed,
  confirm: (job: CorrectedNotification, id: string) => Promise<object> | object,
): Promise<HttpResponse | Refusal> {
  const id = jobPath.id.read(request.params['id'] ?? '');
  if (id === null) return NO_JOB;
  const faults = [...idempotencyKeyFaults(request), ...(read.ok ? [] : read.faults)];
  if (!read.ok || faults.length > 0) return refuse.invalid(faults);
  const job = await readCorrected(sql, caller.clientId, id);
  if (job === null) return NO_JOB;
  const seen = publisherOf(caller);
  if (seen !== null && seen !== job.userName) return refused(403, NOT_SEEN);
  const again = pushAgain({ ...job, expiresAtMs: null });
  const options = { ...again.options, isUrgent: true };
  const push = { payload: { data: {} }, ...again, options, ...read.payload };
  const limited = await limitPush(sql, caller, push);
  if (!limited.ok) return refused(403, limited.why);
  const { deed } = read;
  const bodyHash = createHash('sha256').update(deed.kind).update(id).update(request.body).digest();
  const answer = await accept.correct({
    job,
    deed,
    push: limited.push,
    publisher: publisherIn(request, caller, bodyHash),
    devicesMax: caller.key?.maxDevices ?? null,
    reachKeptMs: reachRetentionDays * DAY_MS,
    hold: (tx) => shareClient(tx, caller.clientId),
    record: async (tx, by) => {
      const action = deed.kind === 'correct' ? 'notification.correct' : 'notification.retract';
      const change = { action, id, name: null, detail: { by } } as const;
      await recordChange(tx, originOf(request, caller), change);
    },
  });
  if (answer.kind === 'accepted') {
    return {
      ...acceptedAt(caller, answer.id, await confirm(job, answer.id)),
      notificationId: answer.id,
    };
  }
  return refusalOf(request, caller, { job, deed, days: reachRetentionDays }, answer);
}

interface Asked {
  readonly job: CorrectedNotification;
  readonly deed: Deed;
  readonly days: number;
}

function refusalOf(
  request: HttpRequest,
  caller: Caller,
  asked: Asked,
  answer: Exclude<CorrectionAnswer, { readonly kind: 'accepted' }>,
): HttpResponse | Refusal {
  switch (answer.kind) {
    case 'not-replaceable':
      return refused(409, answer.hasSeveral ? SEVERAL : NOT_REPLACEABLE);
    case 'other-apps':
      return refused(
        403,
        'This push job went to apps that this key is not for, and the text is replaced everywhere or nowhere.',
      );
    case 'nothing-to-show':
      return refused(409, NOTHING_TO_SHOW);
    case 'too-many-devices':
      return tooManyDevices(answer.devices, caller.key?.maxDevices ?? 0);
    case 'busy':
      return refuse.tooMuchCounted;
    case 'invalid':
    case 'over-limit':
    case 'key-reused':
    case 'too-many-templates':
    case 'nodes-behind':
      return acceptanceAnswer(request, answer, () => ({ status: 202, headers: {}, body: '' }));
    default:
      return whyNot(asked, answer);
  }
}

function whyNot({ job, deed, days }: Asked, why: WhyNoCorrection): Refusal {
  const what = deed.kind === 'correct' ? 'correction' : 'retraction';
  // A retry cannot be replaced.
  const isFirst = job.id === job.first;
  switch (why.kind) {
    case 'under-way':
      return refused(
        409,
        why.state === 'CANCELLED'
          ? `The push job ${why.id} of the same message was cancelled a moment ago, and its last sends await their answers: try again soon.`
          : `The push job ${why.id} of the same message is ${why.state}: cancel it, wait for its end, or ${deed.kind} that one.`,
      );
    case 'not-begun':
      return refused(
        409,
        `This push job is ${why.state}, and nothing of it was sent: ${isFirst && deed.kind === 'correct' ? 'replace' : 'cancel'} it.`,
      );
    case 'waves-to-come':
      return refused(409, WAVES_TO_COME);
    case 'nobody':
      return refused(409, `This push job has reached no device: a ${what} has nothing to send.`);
    case 'retracted':
      return refused(409, `This push job was retracted by ${why.id}.`);
    case 'parked':
      return refused(
        409,
        `Parts of the push job ${why.id} are parked, and an operator may release them (tagcast parked release ${why.id}): then it would send the earlier text.`,
      );
    case 'too-many':
      return refused(
        409,
        `This push job was retried and corrected ${why.max} times, which is the limit.`,
      );
    case 'reach-gone':
      return refused(410, whyGone(why, job.first, days, what));
  }
}

const NOT_REPLACEABLE =
  'This push job cannot be replaced on devices: it was silent, or said so by replaceable: false, or an overlay took its tag away, or it was too large to carry one, or the operator has switched that off.';
const WAVES_TO_COME =
  'This push job is at local time, and time zones are still to come: nobody can say yet who gets it there. Correct it with rest: stop, which cancels them, and send to them again.';
const NOTHING_TO_SHOW =
  'A retraction would send nothing: the push job did not go to these platforms, or went to browsers alone, which must show something. Give a text, or cancel the job.';
const SEVERAL =
  'The messages of this push job have several collapseIds, and one message cannot take the place of all.';
