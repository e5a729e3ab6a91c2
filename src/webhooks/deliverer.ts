/**
 * Delivers events of webhooks: several in one request, one request of a webhook at a time, repeated
 * until its delivery is given up. A webhook belongs to one node during its request.
 */

import type { Logger } from 'pino';
import { Seldom } from '../../packages/std/src/seldom.ts';
import type { Secrets } from '../access/secrets.ts';
import type { SqlPool } from '../database/sql.ts';
import { uuidV7 } from '../domain/uuid-v7.ts';
import type { BackoffPolicy } from '../std/backoff.ts';
import { backoffMs } from '../std/backoff.ts';
import { Recurring } from '../std/recurring.ts';
import { retryAfterMs } from '../std/retry-after.ts';
import { within } from '../std/within.ts';
import type { Posted, PostOptions } from './post.ts';
import { post, resolverFor } from './post.ts';
import { openWebhookSecret, signatureOf } from './secret.ts';
import type { Attempt, ClaimedWebhook, Delivery, Patience } from './sql/claim-deliveries.ts';
import {
  claimWebhooks,
  recordAttempt,
  releaseWebhook,
  takeDelivery,
} from './sql/claim-deliveries.ts';

/**
 * Between two looks for what waits: events of this time go in one request.
 * @limit between looks for what waits
 */
const INTERVAL_MS = 1_000;
/**
 * Bounds a node. A request that gets no answer holds a place for 10 s; its receiver rests then.
 * @limit requests to webhooks of a node at once → they wait
 */
const REQUESTS_MAX = 64;
/**
 * Longer than a request may take, with what is read and written before and after it.
 * @limit a webhook is taken by a node → another node takes it over
 */
const LEASE_MS = 30_000;
/**
 * Receivers often take bodies of a megabyte at most.
 * @limit events of one request to a webhook → the next request
 */
const EVENTS_PER_REQUEST_MAX = 500;
/**
 * @limit bytes of the events of one request to a webhook, but for a single larger event → the next
 * request
 */
const EVENT_BYTES_PER_REQUEST_MAX = 262_144;
/**
 * 17 hours at least: a receiver that is down for a night misses nothing.
 * @limit attempts of a delivery → it is dead, until it is replayed
 */
const ATTEMPTS_MAX = 14;
/** @limit the wait before another attempt: doubles, up to half longer by chance */
const ATTEMPT_BACKOFF: BackoffPolicy = { baseMs: 10_000, capMs: 21_600_000 };
/**
 * After a failure nothing else is sent to this receiver for so long; by failures in a row.
 * @limit the rest of its receiver after a failure: doubles, up to half longer by chance
 */
const REST_BACKOFF: BackoffPolicy = { baseMs: 1_000, capMs: 600_000 };
/**
 * A client whose receiver asks for a longer rest would hear nothing for too long.
 * @limit `Retry-After` of a webhook's receiver that is heeded → it is tried again after this time
 */
const ASKED_REST_MS_MAX = 3_600_000;
/**
 * @limit requests to webhooks under way when the node stops → cut off; sent again by another node
 */
const CLOSE_WAIT_MS_MAX = 2_000;
/**
 * Bounds reports while the database is away.
 * @limit between log lines about failures to reach the database for webhooks → counted in the next
 * line
 */
const TOLD_EVERY_MS = 10_000;

export const DELIVERY_OUTCOMES = ['delivered', 'failed', 'dead'] as const;
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number];

export interface WebhookDelivererOptions
  extends Pick<PostOptions, 'isPrivateAllowed' | 'ca' | 'timeoutMs'>,
    Partial<Pick<PostOptions, 'resolve'>> {
  readonly sql: SqlPool;
  readonly secrets: Secrets;
  readonly log: Logger;
  readonly agent: string;
  onAttempt(outcome: DeliveryOutcome): void;
  readonly attemptsMax?: number;
  readonly attemptBackoff?: BackoffPolicy;
  readonly restBackoff?: BackoffPolicy;
  readonly leaseMs?: number;
}

export class WebhookDeliverer {
  readonly #options: WebhookDelivererOptions;
  readonly #postOptions: PostOptions;
  readonly #end = new AbortController();
  readonly #failures = new Seldom(TOLD_EVERY_MS);
  readonly #underWay = new Set<Promise<void>>();
  readonly #looks = new Recurring(INTERVAL_MS, async () => {
    await this.#lookLogged();
  });
  #isClosing = false;

  constructor(options: WebhookDelivererOptions) {
    const { isPrivateAllowed, ca, timeoutMs, resolve = resolverFor(isPrivateAllowed) } = options;
    this.#options = options;
    this.#postOptions = {
      isPrivateAllowed,
      resolve,
      signal: this.#end.signal,
      ...(ca === undefined ? {} : { ca }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    };
  }

  start(): void {
    this.#looks.start();
  }

  /** Resolves when nothing is under way any more. What was cut off, another node sends again. */
  async stop(): Promise<void> {
    this.#isClosing = true;
    await this.#looks.stop();
    const all = Promise.all(this.#underWay);
    if ((await within(CLOSE_WAIT_MS_MAX, all, 'late')) === 'late') this.#end.abort();
    await all;
  }

  /** Delivers what is due now, and what comes due meanwhile. */
  async run(): Promise<void> {
    for (;;) {
      await this.#look();
      if (this.#underWay.size === 0) return;
      await Promise.race(this.#underWay);
    }
  }

  async #lookLogged(): Promise<void> {
    try {
      await this.#look();
    } catch (error) {
      this.#tell(error);
    }
  }

  #tell(error: unknown): void {
    const times = this.#failures.count();
    if (times === null) return;
    const sentence = 'events cannot be delivered to webhooks; it will be tried again';
    this.#options.log.error({ err: error, times }, sentence);
  }

  async #look(): Promise<void> {
    const free = REQUESTS_MAX - this.#underWay.size;
    if (this.#isClosing || free <= 0) return;
    const { sql, leaseMs = LEASE_MS } = this.#options;
    for (const webhook of await claimWebhooks(sql, free, leaseMs)) {
      const work: Promise<void> = this.#serve(webhook)
        .catch((error: unknown) => this.#tell(error))
        .finally(() => this.#underWay.delete(work));
      this.#underWay.add(work);
    }
  }

  /** One delivery of a webhook. The next look finds whether it has another. */
  async #serve(webhook: ClaimedWebhook): Promise<void> {
    const { sql } = this.#options;
    const delivery = await takeDelivery(sql, webhook.id, uuidV7(), {
      eventsMax: EVENTS_PER_REQUEST_MAX,
      bytesMax: EVENT_BYTES_PER_REQUEST_MAX,
    });
    const posted = delivery === null ? ABORTED : await this.#post(webhook, delivery);
    if (delivery === null || posted.kind === 'aborted') await releaseWebhook(sql, webhook);
    else await this.#record(webhook, delivery, attemptOf(posted));
    // More waits. Otherwise the next look is early enough, and has more for one request.
    if (delivery !== null && isFull(delivery)) await this.#lookLogged();
  }

  async #post(webhook: ClaimedWebhook, { id, events, createdAtMs }: Delivery): Promise<Posted> {
    const { secrets, agent } = this.#options;
    const sealed =
      webhook.previous === null ? [webhook.secret] : [webhook.secret, webhook.previous];
    const opened = sealed.flatMap((one) => openWebhookSecret(secrets, webhook.id, one) ?? []);
    if (opened.length === 0) return UNREADABLE;
    const timestamp = new Date(createdAtMs).toISOString();
    const body = `{"type":"events","timestamp":"${timestamp}","data":{"events":${events}}}`;
    const timestampSeconds = Math.floor(Date.now() / 1_000);
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': agent,
      'webhook-id': id,
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': signatureOf(opened, { id, timestampSeconds, body }),
    };
    return await post(new URL(webhook.url), headers, body, this.#postOptions);
  }

  async #record(
    webhook: ClaimedWebhook,
    delivery: Delivery,
    attempt: AnsweredAttempt,
  ): Promise<void> {
    const { sql, log, onAttempt } = this.#options;
    const patience = this.#patienceAfter(webhook, delivery, attempt);
    const { isTurnedOff } = await recordAttempt(sql, webhook, delivery.id, attempt, patience);
    if (attempt.fault === null) {
      onAttempt('delivered');
      return;
    }
    onAttempt(patience.retryAfterMs === null ? 'dead' : 'failed');
    const { clientId, id: webhookId } = webhook;
    const { id: deliveryId, eventCount } = delivery;
    const fields = { clientId, webhookId, deliveryId, eventCount, fault: attempt.fault };
    if (isTurnedOff) log.warn(fields, 'a webhook was turned off: its receiver answered 410');
    else if (patience.retryAfterMs === null) log.warn(fields, 'a webhook delivery is given up');
    else log.debug(fields, 'a webhook delivery failed; it will be tried again');
  }

  #patienceAfter(webhook: ClaimedWebhook, delivery: Delivery, attempt: AnsweredAttempt): Patience {
    if (attempt.fault === null) return { retryAfterMs: 0, restMs: 0 };
    const {
      attemptsMax = ATTEMPTS_MAX,
      attemptBackoff = ATTEMPT_BACKOFF,
      restBackoff = REST_BACKOFF,
    } = this.#options;
    const attempts = delivery.attempts + 1;
    const isLast = attempt.isGone || attempts >= attemptsMax;
    return {
      retryAfterMs: isLast
        ? null
        : Math.max(attempt.askedRestMs, backoffMs(attemptBackoff, attempts)),
      restMs: Math.max(attempt.askedRestMs, backoffMs(restBackoff, webhook.failures + 1)),
    };
  }
}

const isFull = ({ eventCount, events }: Delivery): boolean =>
  eventCount === EVENTS_PER_REQUEST_MAX || events.length > EVENT_BYTES_PER_REQUEST_MAX / 2;

const ABORTED: Posted = { kind: 'aborted' };
const UNREADABLE: Posted = {
  kind: 'failed',
  fault: 'its secret was sealed with another SECRET_KEY: rotate it',
};

/** An attempt, and how long its receiver asked to be left alone; 0: it did not. */
interface AnsweredAttempt extends Attempt {
  readonly askedRestMs: number;
}

function attemptOf(posted: Exclude<Posted, { readonly kind: 'aborted' }>): AnsweredAttempt {
  const plain = { isGone: false, askedRestMs: 0 };
  if (posted.kind === 'failed') return { ...plain, status: null, fault: posted.fault };
  const { status } = posted;
  if (status >= 200 && status < 300) return { ...plain, status, fault: null };
  return {
    status,
    fault: `answered ${status}${meaningOf(status)}`,
    isGone: status === GONE,
    askedRestMs: MAY_ASK.has(status) ? askedRestMs(posted.retryAfter) : 0,
  };
}

/** Standard Webhooks: the receiver wants no more, ever. */
const GONE = 410;
/** Answers whose `Retry-After` is heeded. */
const MAY_ASK = new Set([429, 503]);

/** The words after a status that is a failure. */
function meaningOf(status: number): string {
  if (status === GONE) return ': the receiver is gone, and the webhook was turned off';
  return status >= 300 && status < 400 ? ', and redirects are not followed' : '';
}

const askedRestMs = (field: string | null): number =>
  Math.min(retryAfterMs(field ?? undefined, Date.now()) ?? 0, ASKED_REST_MS_MAX);
