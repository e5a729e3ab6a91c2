/**
 * Sends one message to one device, now, for publishers who try it out: with a sender of its own, so
 * that neither it nor others wait. Nothing of it is in the ledger.
 */

import type { Scope } from '../domain/device.ts';
import type { Message, Payload } from '../domain/notification.ts';
import type { Outcome } from '../domain/outcome.ts';
import { CANNOT_BE_RENDERED } from '../domain/own-faults.ts';
import { withReplaceableDefault } from '../domain/replaceable.ts';
import { uuidV7 } from '../domain/uuid-v7.ts';
import { shareOf } from '../std/share.ts';
import type { Step } from '../std/step.ts';
import { TokenBuckets } from '../std/token-buckets.ts';
import { within } from '../std/within.ts';
import type { Rendered, TransportLimits, TransportName } from '../transport/transport.ts';
import { createSender } from './create-sender.ts';
import type { ProviderOrigins } from './origins.ts';
import type { ProviderCredential } from './providers.ts';
import type { Sender } from './sender.ts';

/**
 * @limit a message that is tried out waits for its answer → `NoAnswerInTime`, `ProviderUnreachable`
 */
const TIMEOUT_MS = 10_000;
/**
 * Each has a connection of its own.
 * @limit messages that are tried out (`notifications/test`), at a time → `503`, `Retry-After: 5`
 */
const AT_ONCE_MAX = 8;
/** @limit messages of one client that are tried out, at a time → `503`, `Retry-After: 5` */
const OF_CLIENT_MAX = 2;
/**
 * To a provider, connections that come and go quickly look like an attack.
 * @publisherLimit messages of one client that are tried out (`notifications/test`), in a second →
 * `429`, `Retry-After: 1`
 */
const PER_SECOND_MAX = 1;
/**
 * @limit clients whose rates of test messages are remembered, in each of two generations →
 * forgotten, so with full rate again
 */
const BUCKETS_MAX = 10_000;
/** @limit connections of a message that is tried out */
const LIMITS: Partial<TransportLimits> = { connectionsMax: 1, drainTimeoutMs: 1_000 };

/** The right to send, as the dispatcher has it. */
export type TestGrant =
  | {
      readonly kind: 'granted';
      readonly authorized: {
        readonly credential: ProviderCredential;
        readonly authorization: string;
      };
    }
  | { readonly kind: 'fault'; readonly reason: string }
  | { readonly kind: 'later'; readonly reason: string };

interface TestSend extends Scope {
  readonly clientId: number;
  readonly deviceId: string;
  readonly payload: Payload;
}

export type TestResult =
  /** The answer of the provider, or, where it could not be asked, ours. */
  | {
      readonly kind: 'answered';
      readonly outcome: Outcome;
      readonly isSimulated: boolean;
      readonly steps: readonly Step[];
    }
  | { readonly kind: 'too-many' }
  /** Too many are under way, of this client or in all. */
  | { readonly kind: 'busy' };

interface TestSendsOptions {
  readonly origins: ProviderOrigins;
  readonly transport: TransportName;
  readonly authorize: (appId: number, platformId: number) => Promise<TestGrant>;
  /** Whether a message is replaceable on the device whose payload does not say. */
  readonly replaceableDefault: boolean;
}

export class TestSends {
  private readonly options: TestSendsOptions;
  private readonly rates = new TokenBuckets({ perSecond: PER_SECOND_MAX, bucketsMax: BUCKETS_MAX });
  private underWay: readonly TestSend[] = [];

  constructor(options: TestSendsOptions) {
    this.options = options;
  }

  async run(test: TestSend): Promise<TestResult> {
    const { clientId, platformId } = test;
    const own = this.underWay.filter((other) => other.clientId === clientId).length;
    const share = shareOf(AT_ONCE_MAX - this.underWay.length, AT_ONCE_MAX);
    if (own >= Math.min(OF_CLIENT_MAX, share)) return { kind: 'busy' };
    if (!this.rates.take(String(clientId), performance.now())) return { kind: 'too-many' };
    this.underWay = [...this.underWay, test];
    try {
      const isSimulated = this.options.origins.simulated.some((id) => id === platformId);
      const steps: Step[] = [];
      return { kind: 'answered', outcome: await this.outcomeOf(test, steps), isSimulated, steps };
    } finally {
      this.underWay = this.underWay.filter((other) => other !== test);
    }
  }

  private async outcomeOf(
    { appId, platformId, deviceId, payload }: TestSend,
    steps: Step[],
  ): Promise<Outcome> {
    const { origins, transport, authorize, replaceableDefault } = this.options;
    const grant = await stepOf('authorize', steps, () => authorize(appId, platformId));
    if (grant.kind === 'fault') return { kind: 'bad-credential', reason: grant.reason };
    if (grant.kind === 'later') {
      return { kind: 'unavailable', reason: grant.reason, retryAfterMs: null };
    }
    const { credential, authorization } = grant.authorized;
    const sender = createSender(credential, { origins, transport, authorization, limits: LIMITS });
    const nowMs = Date.now();
    const message: Message = {
      // An id of its own: it replaces neither the job that is tried out nor another trial.
      notificationId: uuidV7(),
      payload: withReplaceableDefault(payload, replaceableDefault),
      dueAtMs: nowMs,
      expiresAtMs: null,
    };
    try {
      return await sendOnce(sender, message, deviceId, steps);
    } finally {
      await sender.close();
    }
  }
}

async function sendOnce(
  sender: Sender,
  message: Message,
  deviceId: string,
  steps: Step[],
): Promise<Outcome> {
  const endMs = performance.now() + TIMEOUT_MS;
  const rendered = renderedBy(sender, message);
  if (rendered === null) return { kind: 'bad-message', reason: CANNOT_BE_RENDERED };
  const isReady = await stepOf('connect', steps, () =>
    within(
      TIMEOUT_MS,
      sender.whenReady().then(() => true),
      false,
    ),
  );
  if (!isReady) return UNREACHABLE;
  return stepOf('answer', steps, () => {
    const answered = new Promise<Outcome>((resolve) => {
      sender.send(rendered, deviceId, 0, (_position, outcome) => resolve(outcome));
    });
    return within(endMs - performance.now(), answered, UNANSWERED);
  });
}

async function stepOf<T>(name: string, steps: Step[], work: () => Promise<T>): Promise<T> {
  const startMs = Date.now();
  try {
    return await work();
  } finally {
    steps.push({ name, startMs, endMs: Date.now(), attributes: {} });
  }
}

/** A message that makes its sender throw would do so for every device. */
function renderedBy(sender: Sender, message: Message): Rendered | null {
  try {
    return sender.render(message);
  } catch {
    return null;
  }
}

const UNREACHABLE: Outcome = {
  kind: 'unavailable',
  reason: 'ProviderUnreachable',
  retryAfterMs: null,
};
const UNANSWERED: Outcome = { kind: 'unknown', reason: 'NoAnswerInTime' };
