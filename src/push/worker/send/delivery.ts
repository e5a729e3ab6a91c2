/** What both runners share: a courier for the task, and what an outcome means for it. */

import type { DeviceNote } from '../../../domain/group-change.ts';
import type { Outcome } from '../../../domain/outcome.ts';
import { DELIVERED, reasonOf } from '../../../domain/outcome.ts';
import { CANNOT_BE_RENDERED, MISSING_CREDENTIAL } from '../../../domain/own-faults.ts';
import type { DeviceNews } from '../../../domain/progress.ts';
import type { Sender } from '../../../providers/sender.ts';
import type { Rendered } from '../../../transport/transport.ts';
import type { Task } from '../../protocol/task.ts';
import type { RunContext } from '../run-context.ts';
import type { Freight, Halt } from './courier.ts';
import { Courier } from './courier.ts';
import type { Ending } from './ending.ts';
import { ACCEPTED, CANCELLED, EXPIRED, endingOf, failedWith, faultIn } from './ending.ts';

/**
 * Sends what there is to send; resolves when each send has its outcome. Null: all of it was sent.
 */
export function carry(
  task: Task,
  context: RunContext,
  freight: Freight,
  urgeReport: () => void,
): Promise<Halt | null> {
  const { sender, turns } = context;
  if (freight.next === null) return Promise.resolve(null);
  const rendered = sender === null ? null : render(sender, task, context);
  if (sender === null || turns === null || rendered === null) {
    return Promise.resolve({ kind: 'settle-rest', ending: unsent(task, context) });
  }
  const courier = new Courier({
    ...context,
    notificationId: task.message.notificationId,
    freight,
    sender,
    turns,
    rendered,
    deadlines: task,
    urgeReport,
  });
  return courier.run();
}

/** How everything ends that cannot be sent. */
function unsent({ expires, sendUntilMs }: Task, { control, clock }: RunContext): Ending {
  if (control.isCancelled) return CANCELLED;
  if (control.fault !== null) return failedWith(control.fault);
  if (expires && clock.nowMs() >= sendUntilMs) return EXPIRED;
  return failedWith(MISSING_CREDENTIAL);
}

/**
 * A message that makes its sender throw would do so for ever: it is a fault, and the notification
 * can end.
 */
function render(sender: Sender, task: Task, { control, log }: RunContext): Rendered | null {
  try {
    return sender.render(task.message);
  } catch (error) {
    log.error(
      { err: error, notificationId: task.message.notificationId },
      'a message cannot be rendered',
    );
    control.find(CANNOT_BE_RENDERED);
    return null;
  }
}

/**
 * A refused credential that another one replaces is an authorization that has expired: the same
 * send works with a fresh one.
 */
function withFallback(task: Task, { credentialRefused }: RunContext, outcome: Outcome): Outcome {
  if (outcome.kind !== 'bad-credential' || !task.authority?.hasFallback) return outcome;
  credentialRefused(outcome.reason);
  return { kind: 'expired-authorization', reason: outcome.reason };
}

export interface Judgement {
  readonly ending: Ending;
  /** What else was learned of the device. */
  readonly news: DeviceNews | null;
}

/** The device that an outcome is about. */
export interface JudgedDevice {
  readonly ordinal: number;
  readonly note: DeviceNote | null;
  /** Sends tried before this one. */
  readonly attempts: number;
}

/** Nearly every send ends so, and nothing else is to be said of it. */
const PLAINLY_DELIVERED: Judgement = Object.freeze({ ending: ACCEPTED, news: null });

/** What an outcome means for its device; what it means for everybody else goes to the control. */
export function judge(
  task: Task,
  context: RunContext,
  answered: Outcome,
  device: JudgedDevice,
): Judgement {
  if (answered === DELIVERED && device.note === null) {
    context.control.delivered();
    return PLAINLY_DELIVERED;
  }
  return judgeClosely(task, context, answered, device);
}

function judgeClosely(
  task: Task,
  context: RunContext,
  answered: Outcome,
  device: JudgedDevice,
): Judgement {
  const { control, clock, provider, authorizationExpired, tooManyTokens, unfamiliar } = context;
  if (answered.kind === 'expired-authorization') authorizationExpired();
  const reason = reasonOf(answered);
  if (reason !== null && reason === provider.tooManyTokens?.reason) tooManyTokens();
  const outcome = withFallback(task, context, answered);
  const fault = faultIn(outcome) ?? wordlessFault(outcome, context);
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
  return { ending, news: newsOf(task, outcome, device, clock.nowMs()) };
}

/**
 * What only seems to be the provider's refusal is one after several, if nobody of the scope has got
 * through.
 */
function wordlessFault(outcome: Outcome, { health, control }: RunContext): string | null {
  if (outcome.kind !== 'unavailable' || !outcome.isWordless || outcome.isOneHost) return null;
  return control.hasDelivered ? null : health.wordlessFault;
}

function newsOf(
  task: Task,
  outcome: Outcome,
  { ordinal, note }: JudgedDevice,
  nowMs: number,
): DeviceNews | null {
  switch (outcome.kind) {
    case 'delivered':
      if (outcome.environment !== undefined) {
        return { ordinal, kind: 'moved', environment: outcome.environment };
      }
      return note !== null && note.refusals > 0 ? { ordinal, kind: 'restored' } : null;
    case 'gone':
      // Without a time of its own the answer is about the token as it was when we resolved it. And
      // no answer knows of later than now, whatever it says: the database would refuse the year
      // 292,000,000.
      return {
        ordinal,
        kind: 'gone',
        registeredBeforeMs: Math.min(outcome.sinceMs ?? task.claimedAtMs, nowMs),
      };
    case 'bad-token':
      // Our own judgement of a token's form is no word of its provider: such a device is registered
      // all the same.
      if (outcome.isInconclusive || outcome.isUnasked) return null;
      return { ordinal, kind: 'refused', registeredBeforeMs: task.claimedAtMs };
    default:
      return null;
  }
}
