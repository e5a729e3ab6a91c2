/**
 * One push service in one sender: its connections and the sends that wait for them. One that does
 * not answer may hold few, so that others' browsers get their pushes.
 */

import type { Outcome } from '../../domain/outcome.ts';
import { within } from '../../std/within.ts';
import type { Answer, RequestTemplate, Settle, Transport } from '../../transport/transport.ts';
import type { VapidToken } from './credentials.ts';
import type { Recipient } from './encryption.ts';
import { encrypt } from './encryption.ts';
import { Refusals } from './refusals.ts';
import {
  CLOSE_WAIT_MS_MAX,
  HELD_PER_SERVICE_MAX,
  PROBES_MAX,
  STUCK_AFTER_MS,
  WAIT_MS_MAX,
  WORKED_WITHIN_MS,
} from './settings.ts';

export interface PushSend {
  readonly template: RequestTemplate;
  /** The text for the template's place: the endpoint's path, or the FCM token. */
  readonly token: string;
  /** The plaintext and its recipient. Null: the body is the template's. */
  readonly sealed: { readonly record: Buffer; readonly recipient: Recipient } | null;
  readonly position: number;
  readonly settle: Settle;
  /** On the monotonic clock. */
  readonly askedAtMs: number;
}

interface PushServiceOptions {
  makeTransport(outcomeOf: (answer: Answer) => Outcome): Transport;
  outcomeOf(answer: Answer): Outcome;
  /** Null: the authorization is set from outside (`authorize`). */
  readonly vapid: VapidToken | null;
  ended(service: PushService, send: PushSend, outcome: Outcome): void;
  ready(): void;
}

const TOO_LATE: Outcome = Object.freeze({ kind: 'refused', reason: 'no stream was free in time' });
const CLOSING: Outcome = Object.freeze({ kind: 'refused', reason: 'closing' });
export const NO_ANSWER: Outcome = Object.freeze({
  kind: 'unavailable',
  reason: 'PushServiceSilent',
  retryAfterMs: null,
});
/** The subscription's public key is no point of the curve: only the encryption finds this out. */
const BAD_KEY: Outcome = Object.freeze({
  kind: 'bad-token',
  reason: 'BadSubscription',
  isUnasked: true,
});

export class PushService {
  readonly transport: Transport;
  usedAtMs = 0;
  readonly #options: PushServiceOptions;
  readonly #waiting: PushSend[] = [];
  #underWay = 0;
  #onEmpty: () => void = () => undefined;
  #isAwaited = false;
  #isStuck = false;
  /** Monotonic time from which it owes an answer. */
  #owesSinceMs = 0;
  #workedAtMs = Number.NEGATIVE_INFINITY;
  #keyRefusals = new Refusals();
  /** Refusals of single messages. Null: some device got it, so the message is not the fault. */
  readonly #messageRefusals = new WeakMap<RequestTemplate, Refusals | null>();

  constructor(options: PushServiceOptions) {
    this.#options = options;
    this.transport = options.makeTransport((answer) => this.#heard(answer));
  }

  get held(): number {
    return this.#waiting.length + this.#underWay;
  }

  get isStuck(): boolean {
    return this.#isStuck;
  }

  get isFull(): boolean {
    return this.held >= (this.#isStuck ? PROBES_MAX : HELD_PER_SERVICE_MAX);
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Whether it took a push lately, or knew that a subscription has ended. */
  works(nowMs: number): boolean {
    return !this.#isStuck && nowMs - this.#workedAtMs < WORKED_WITHIN_MS;
  }

  add(send: PushSend): void {
    if (this.held === 0) this.#owesSinceMs = send.askedAtMs;
    this.usedAtMs = send.askedAtMs;
    this.#waiting.push(send);
  }

  /** False: it sent none. */
  sendNext(nowMs: number): boolean {
    if (this.#waiting.length === 0) return false;
    if (this.transport.capacity === 0) {
      void this.#awaitRoom();
      return false;
    }
    const send = this.#waiting.shift();
    if (send === undefined) return false;
    this.#underWay += 1;
    // The node may have been called dead since, and another may have taken over the device.
    if (nowMs - send.askedAtMs > WAIT_MS_MAX) this.#end(send, TOO_LATE);
    else this.#start(send);
    if (this.#waiting.length === 0) this.#onEmpty();
    return true;
  }

  /** The outcome of a send not made because others before it were refused. Null: it may be sent. */
  refusalOf(template: RequestTemplate, nowMs: number): Outcome | null {
    const ofMessage = this.#messageRefusals.get(template)?.outcome(nowMs) ?? null;
    if (ofMessage !== null || this.works(nowMs)) return ofMessage;
    return this.#keyRefusals.outcome(nowMs);
  }

  /** A new authorization may be better than the one that was refused. */
  authorize(authorization: string): void {
    this.#keyRefusals = new Refusals();
    this.transport.authorize(authorization);
  }

  /** A service that owes an answer for too long keeps only its probes. True: from now on. */
  sweep(nowMs: number): boolean {
    if (this.#isStuck || this.held === 0 || nowMs - this.#owesSinceMs <= STUCK_AFTER_MS)
      return false;
    this.#isStuck = true;
    for (const send of this.#waiting.splice(PROBES_MAX)) this.#options.ended(this, send, NO_ANSWER);
    return true;
  }

  /** Still sends what waits, if it gets room for it soon. */
  async close(): Promise<void> {
    if (this.#waiting.length > 0) await this.#emptied();
    for (const send of this.#waiting.splice(0)) this.#options.ended(this, send, CLOSING);
    await this.transport.close();
  }

  async #emptied(): Promise<void> {
    const emptied = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    await within(CLOSE_WAIT_MS_MAX, emptied, undefined);
  }

  #start(send: PushSend): void {
    const { template, token, sealed } = send;
    let body: Buffer | undefined;
    try {
      body = sealed === null ? undefined : encrypt(sealed.record, sealed.recipient);
    } catch {
      this.#end(send, BAD_KEY);
      return;
    }
    const { vapid } = this.#options;
    if (vapid !== null) this.transport.authorize(vapid.current(Date.now(), performance.now()));
    this.transport.send(template, token, 0, (_, outcome) => this.#settled(send, outcome), body);
  }

  #settled(send: PushSend, outcome: Outcome): void {
    if (outcome.kind === 'bad-credential') this.#keyRefusals.refused(outcome, performance.now());
    else if (outcome.kind === 'bad-message') this.#messageRefused(send.template, outcome);
    else if (outcome.kind === 'delivered') this.#messageRefusals.set(send.template, null);
    this.#end(send, outcome);
  }

  #messageRefused(template: RequestTemplate, outcome: Outcome): void {
    const known = this.#messageRefusals.get(template);
    if (known === null) return;
    const refusals = known ?? new Refusals();
    refusals.refused(outcome, performance.now());
    this.#messageRefusals.set(template, refusals);
  }

  #end(send: PushSend, outcome: Outcome): void {
    this.#underWay -= 1;
    this.#options.ended(this, send, outcome);
  }

  #heard(answer: Answer): Outcome {
    const nowMs = performance.now();
    this.#isStuck = false;
    this.#owesSinceMs = nowMs;
    const outcome = this.#options.outcomeOf(answer);
    if (outcome.kind === 'delivered' || outcome.kind === 'gone') {
      this.#workedAtMs = nowMs;
      this.#keyRefusals.accepted();
    }
    return outcome;
  }

  async #awaitRoom(): Promise<void> {
    if (this.#isAwaited) return;
    this.#isAwaited = true;
    await this.transport.whenReady();
    this.#isAwaited = false;
    this.#options.ready();
  }
}
