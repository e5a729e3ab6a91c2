/** The part that both runners share: the send loop, and the meaning of an outcome. */

import { NO_TAG } from '../../../domain/audience-condition.ts';
import type { DeviceHistory } from '../../../domain/device-group-change.ts';
import type { Outcome } from '../../../domain/outcome.ts';
import { DELIVERED, reasonOf } from '../../../domain/outcome.ts';
import { CANNOT_BE_RENDERED, MISSING_CREDENTIAL } from '../../../domain/own-faults.ts';
import type { DeviceObservation } from '../../../domain/progress.ts';
import type { Sender } from '../../../providers/sender.ts';
import type { AskedLanguages } from '../../../tag-index/tag-index.ts';
import type { Rendered } from '../../../transport/transport.ts';
import type { Task } from '../../protocol/task.ts';
import type { RunContext } from '../run-context.ts';
import type { Ending } from './ending.ts';
import { ACCEPTED, CANCELLED, EXPIRED, endingOf, failedWith, faultIn } from './ending.ts';
import type { Halt, SendQueue } from './send-loop.ts';
import { SendLoop } from './send-loop.ts';

/** Sends the task's queue; resolves when each send has its outcome. Null: all of it was sent. */
export function sendAll(
  task: Task,
  context: RunContext,
  queue: SendQueue,
  urgeReport: () => void,
): Promise<Halt | null> {
  const { sender, fairQueue } = context;
  if (queue.next === null) return Promise.resolve(null);
  const rendered = sender === null ? null : render(sender, task, context);
  if (sender === null || fairQueue === null || rendered === null) {
    return Promise.resolve({ kind: 'settle-rest', ending: unsent(task, context) });
  }
  const loop = new SendLoop({
    ...context,
    notificationId: task.message.notificationId,
    isUrgent: task.isUrgent,
    queue,
    sender,
    fairQueue,
    ...rendered,
    deadlines: task,
    urgeReport,
  });
  return loop.run();
}

/** How the devices of a task end when nothing can be sent. */
function unsent({ expires, sendUntilMs }: Task, { control, clock }: RunContext): Ending {
  if (control.isCancelled) return CANCELLED;
  if (control.fault !== null) return failedWith(control.fault);
  if (expires && clock.nowMs() >= sendUntilMs) return EXPIRED;
  return failedWith(MISSING_CREDENTIAL);
}

/** The languages of its payload, as its index is asked for them: all by tags, or all by values. */
export function languagesAskedOf({ message }: Task): AskedLanguages {
  const { languages = [] } = message.payload;
  const byValues = languages.flatMap((one) => ('language' in one ? [one.facetIds ?? []] : []));
  if (byValues.length > 0) return byValues;
  return languages.map((one) => ('language' in one ? NO_TAG : (one.tagId ?? NO_TAG)));
}

/** Null: the sender threw, as it would at every try: a fault, so that the notification can end. */
function render(
  sender: Sender,
  { message }: Task,
  { control, log }: RunContext,
): { readonly rendered: Rendered; readonly inLanguages: readonly Rendered[] } | null {
  try {
    const { languages = [] } = message.payload;
    return {
      rendered: sender.render(message),
      inLanguages: languages.map(({ payload }) => sender.render({ ...message, payload })),
    };
  } catch (error) {
    log.error(
      { err: error, notificationId: message.notificationId },
      'a message cannot be rendered',
    );
    control.find(CANNOT_BE_RENDERED);
    return null;
  }
}

/** A refused credential with a fallback is like an expired authorization: a fresh one works. */
function withFallback(task: Task, { credentialRefused }: RunContext, outcome: Outcome): Outcome {
  if (outcome.kind !== 'bad-credential' || outcome.isDoubted) return outcome;
  if (!task.authorized?.hasFallback) return outcome;
  credentialRefused(outcome.reason);
  return { kind: 'expired-authorization', reason: outcome.reason };
}

interface Judgement {
  readonly ending: Ending;
  readonly observation: DeviceObservation | null;
}

interface JudgedDevice {
  readonly ordinal: number;
  readonly history: DeviceHistory | null;
  /** Sends tried before this one. */
  readonly attempts: number;
}

/** Nearly every send ends so. */
const PLAINLY_DELIVERED: Judgement = Object.freeze({ ending: ACCEPTED, observation: null });

/** The ending of a device by its outcome; the control learns what it means for the task. */
export function judge(
  task: Task,
  context: RunContext,
  answered: Outcome,
  device: JudgedDevice,
): Judgement {
  if (answered === DELIVERED && device.history === null) {
    context.control.delivered();
    return PLAINLY_DELIVERED;
  }
  return judgeClosely(task, context, answered, device);
}

function judgeClosely(
  task: Task,
  context: RunContext,
  settled: Outcome,
  device: JudgedDevice,
): Judgement {
  const { control, clock, provider, authorizationExpired, tooManyTokens, unfamiliar } = context;
  const answered = untimely(context, settled);
  if (answered.kind === 'expired-authorization') authorizationExpired();
  const reason = reasonOf(answered);
  if (reason !== null && reason === provider.tooManyTokens?.reason) tooManyTokens();
  const outcome = withFallback(task, context, doubted(task, context, answered));
  const fault = faultOf(outcome, context);
  if (fault !== null) control.find(fault);
  if (outcome.kind === 'delivered') control.delivered();
  else if (outcome.unfamiliarStatus !== undefined) {
    unfamiliar({ status: outcome.unfamiliarStatus, reason: outcome.reason });
  }
  const ending = endingOf(outcome, {
    retryPolicy: context.retryPolicy,
    attempts: device.attempts + 1,
    nowMs: clock.nowMs(),
    retryUntilMs: task.retryUntilMs,
    expires: task.expires,
    isAtMostOnce: task.isAtMostOnce,
  });
  return { ending, observation: observationOf(task, outcome, device, clock.nowMs()) };
}

/** The clock was ahead when the authorization was signed: a refusal of it proves nothing. */
const untimely = (context: RunContext, outcome: Outcome): Outcome =>
  outcome.kind === 'bad-credential' && !outcome.isOneHost && context.isAuthorizationAhead()
    ? { kind: 'expired-authorization', reason: outcome.reason }
    : outcome;

/**
 * Refusals of a credential that was accepted a moment ago: one ends its device alone and opens the
 * circuit; while that is open, devices are tried again. Several alike prove the refusal.
 */
function doubted(task: Task, { breaker, control }: RunContext, outcome: Outcome): Outcome {
  if (outcome.kind !== 'bad-credential' || outcome.isOneHost) return outcome;
  const wasAccepted =
    control.hasDelivered || breaker.wasAcceptedLately || task.authorized?.wasAcceptedLately;
  if (!wasAccepted) return outcome;
  const wasOpen = breaker.isOpen;
  breaker.refused(outcome.reason);
  if (breaker.provenFault !== null) return outcome;
  return wasOpen
    ? { kind: 'unavailable', reason: outcome.reason, retryAfterMs: breaker.stoppedForMs }
    : { ...outcome, isDoubted: true };
}

/**
 * A message that a device of the scope has got is not wrong for every device; several refusals
 * without the provider's own words are no fault of its credential.
 */
function faultOf(outcome: Outcome, { breaker, control }: RunContext): string | null {
  if (control.hasDelivered && outcome.kind !== 'bad-credential') return null;
  const isWordless = outcome.kind === 'unavailable' && outcome.isWordless && !outcome.isOneHost;
  return isWordless ? breaker.provenFault : faultIn(outcome);
}

function observationOf(
  task: Task,
  outcome: Outcome,
  { ordinal, history }: JudgedDevice,
  nowMs: number,
): DeviceObservation | null {
  switch (outcome.kind) {
    case 'delivered':
      if (outcome.environment !== undefined) {
        return { ordinal, kind: 'moved', environment: outcome.environment };
      }
      return history !== null && history.refusals > 0 ? { ordinal, kind: 'restored' } : null;
    case 'gone':
      // An answer without a time is about the token as it was at the claim. A time in the future
      // counts as now: the database would refuse the year 292,000,000.
      return {
        ordinal,
        kind: 'gone',
        registeredBeforeMs: Math.min(outcome.sinceMs ?? task.claimedAtMs, nowMs),
      };
    case 'bad-token':
      // It stays if the answer proves nothing of its token, or the engine refused the token's form.
      if (outcome.isInconclusive || outcome.isUnasked) return null;
      return { ordinal, kind: 'refused', registeredBeforeMs: task.claimedAtMs };
    default:
      return null;
  }
}
