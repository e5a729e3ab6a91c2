/**
 * One credential in both environments of APNs: only APNs knows which one a token is of. After
 * BadDeviceToken the sender asks the other one, once, so no device is quarantined for a wrong
 * setting.
 */

import type { ApnsEnvironment, DeviceToken } from '../../domain/device.ts';
import type { Message } from '../../domain/notification.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { Rendered, Settle } from '../../transport/transport.ts';
import type { Sender } from '../sender.ts';
import { WaitingLine } from './waiting-line.ts';

/**
 * Beyond it no new send starts: an app with only such tokens would collect them here.
 * @limit sends that wait for APNs' other environment, per thread and credential → no new send
 * starts
 */
const WAITING_MAX = 1_000;
/**
 * It gets no sends for OTHER_REST_MS then. A healthy one needs less than a second.
 * @limit no answer of APNs' other environment while sends wait for it → it is left alone for 30 s:
 * refused tokens end refused, not counted; those known to be of it are sent later
 */
const OTHER_SILENT_MS_MAX = 5_000;
const OTHER_REST_MS = 30_000;
/** A send that waited longer is not made: another node may have taken over the device. */
const IN_LINE_MS_MAX = 10_000;

interface TwoEnvironmentsOptions {
  readonly own: Sender;
  readonly ownEnvironment: ApnsEnvironment;
  /** Called once, when the first token needs it: with most credentials none ever does. */
  readonly makeOther: (authorization: string) => Sender;
  readonly authorization: string;
}

type Side = 'own' | 'other';

interface Try {
  readonly rendered: Rendered;
  readonly deviceId: DeviceToken;
  readonly position: number;
  readonly settle: Settle;
  refusal: Outcome | null;
  /** Monotonic time from which it waits in a line. */
  inLineSinceMs: number;
}

export class TwoEnvironments implements Sender {
  readonly #own: Sender;
  readonly #makeOther: (authorization: string) => Sender;
  readonly #environments: Readonly<Record<Side, ApnsEnvironment>>;
  readonly #ownLine: WaitingLine;
  #other: { readonly sender: Sender; readonly line: WaitingLine } | null = null;
  #authorization: string;
  /** The key is not for the other environment (Apple makes keys for one of them, or for both). */
  #isOtherRefused = false;
  /** The other environment has accepted the key: a single refusal proves nothing. */
  #isOtherKnown = false;
  /** Monotonic times: of the other environment's last answer, and until when it gets no sends. */
  #otherAnsweredAtMs = 0;
  #otherRestsUntilMs = 0;
  #otherWatch: NodeJS.Timeout | null = null;
  #isClosing = false;
  /** The sends under way by number, and the free numbers: so no send needs a closure. */
  readonly #tries: (Try | null)[] = [];
  readonly #free: number[] = [];
  readonly #wakes: (() => void)[] = [];

  constructor({ own, ownEnvironment, makeOther, authorization }: TwoEnvironmentsOptions) {
    this.#own = own;
    this.#makeOther = makeOther;
    this.#authorization = authorization;
    const otherEnvironment = ownEnvironment === 'production' ? 'sandbox' : 'production';
    this.#environments = { own: ownEnvironment, other: otherEnvironment };
    this.#ownLine = new WaitingLine(own, (number) => this.#startInTime('own', own, number));
  }

  get capacity(): number {
    return this.#isFull ? 0 : this.#own.capacity;
  }

  render(message: Message): Rendered {
    return this.#own.render(message);
  }

  async whenReady(): Promise<void> {
    while (this.#isFull && !this.#isClosing) {
      await new Promise<void>((resolve) => {
        this.#wakes.push(resolve);
      });
    }
    await this.#own.whenReady();
  }

  send(
    rendered: Rendered,
    deviceId: DeviceToken,
    position: number,
    settle: Settle,
    environment: ApnsEnvironment | null = null,
  ): void {
    const number = this.#free.pop() ?? this.#tries.length;
    this.#tries[number] = { rendered, deviceId, position, settle, refusal: null, inLineSinceMs: 0 };
    if (environment !== this.#environments.other || this.#isOtherRefused)
      this.#start('own', this.#own, number);
    else if (this.#mayAsk('other')) this.#ask('other', number);
    else this.#giveUp(number);
  }

  /** Warms its own environment only: few tokens are of the other one. */
  warm(connections: number): void {
    this.#own.warm(connections);
  }

  authorize(authorization: string): void {
    this.#authorization = authorization;
    this.#own.authorize(authorization);
    this.#other?.sender.authorize(authorization);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.#otherWatch !== null) clearTimeout(this.#otherWatch);
    for (const number of this.#ownLine.clear()) this.#giveUp(number);
    for (const number of this.#other?.line.clear() ?? []) this.#giveUp(number);
    this.#wake();
    await Promise.all([this.#own.close(), this.#other?.sender.close()]);
  }

  get #isFull(): boolean {
    return this.#other !== null && this.#other.line.length >= WAITING_MAX;
  }

  #mayAsk(side: Side): boolean {
    return !this.#isClosing && (side === 'own' || !(this.#isOtherRefused || this.#isOtherResting));
  }

  get #isOtherResting(): boolean {
    return this.#otherRestsUntilMs > 0 && performance.now() < this.#otherRestsUntilMs;
  }

  #startInTime(side: Side, sender: Sender, number: number): void {
    const isLate = performance.now() - this.#tryOf(number).inLineSinceMs > IN_LINE_MS_MAX;
    if (isLate) this.#giveUp(number);
    else this.#start(side, sender, number);
  }

  #start(side: Side, sender: Sender, number: number): void {
    const { rendered, deviceId } = this.#tryOf(number);
    sender.send(rendered, deviceId, number, side === 'own' ? this.#ownSettled : this.#otherSettled);
    this.#wake();
  }

  /** It waits in line: callers check only the own environment's capacity. */
  #ask(side: Side, number: number): void {
    const nowMs = performance.now();
    this.#tryOf(number).inLineSinceMs = nowMs;
    if (side === 'own') {
      this.#ownLine.add(number);
      return;
    }
    this.#otherLine().line.add(number);
    if (this.#otherWatch === null) {
      this.#otherAnsweredAtMs = nowMs;
      this.#watchOther(OTHER_SILENT_MS_MAX);
    }
  }

  #watchOther(afterMs: number): void {
    this.#otherWatch = setTimeout(() => {
      this.#otherWatch = null;
      if (this.#other === null || this.#other.line.length === 0) return;
      const leftMs = this.#otherAnsweredAtMs + OTHER_SILENT_MS_MAX - performance.now();
      if (leftMs > 0) this.#watchOther(Math.ceil(leftMs));
      else this.#restOther(this.#other.line);
    }, afterMs).unref();
  }

  #restOther(line: WaitingLine): void {
    this.#otherRestsUntilMs = performance.now() + OTHER_REST_MS;
    for (const number of line.clear()) this.#giveUp(number);
    this.#wake();
  }

  #otherLine(): { readonly sender: Sender; readonly line: WaitingLine } {
    if (this.#other !== null) return this.#other;
    const sender = this.#makeOther(this.#authorization);
    const line = new WaitingLine(sender, (number) => this.#startInTime('other', sender, number));
    this.#other = { sender, line };
    return this.#other;
  }

  readonly #ownSettled: Settle = (number, outcome) => {
    const { refusal } = this.#tryOf(number);
    if (refusal !== null) this.#finish(number, this.#second('own', refusal, outcome));
    else if (!isOfOther(outcome) || this.#isOtherRefused) this.#finish(number, outcome);
    else if (this.#mayAsk('other')) this.#askAgain('other', number, outcome);
    else this.#finish(number, inconclusive(outcome));
  };

  readonly #otherSettled: Settle = (number, outcome) => {
    if (outcome.kind !== 'unknown') this.#otherAnsweredAtMs = performance.now();
    this.#heardOther(outcome);
    const { refusal } = this.#tryOf(number);
    if (refusal !== null) this.#finish(number, this.#second('other', refusal, outcome));
    else if (!this.#mayAsk('own')) this.#finish(number, UNASKED);
    else if (isOfOther(outcome)) this.#askAgain('own', number, outcome);
    else if (outcome.kind === 'bad-credential') this.#askOwnInstead(number);
    else this.#finish(number, outcome);
  };

  /** The key may be good in its own one: no more sends here, or a rest if it was accepted. */
  #heardOther(outcome: Outcome): void {
    if (KEY_ACCEPTED.has(outcome.kind)) this.#isOtherKnown = true;
    if (outcome.kind !== 'bad-credential') return;
    if (this.#isOtherKnown && this.#other !== null) this.#restOther(this.#other.line);
    else this.#isOtherRefused = true;
  }

  /** The token may be of either environment: a refusal by its own one proves nothing then. */
  #askOwnInstead(number: number): void {
    if (this.#isOtherKnown) this.#finish(number, OTHER_SILENT);
    else this.#ask('own', number);
  }

  #askAgain(side: Side, number: number, refusal: Outcome): void {
    this.#tryOf(number).refusal = refusal;
    this.#ask(side, number);
  }

  #second(side: Side, refusal: Outcome, outcome: Outcome): Outcome {
    switch (outcome.kind) {
      case 'delivered':
        return ACCEPTED_IN[this.#environments[side]];
      // The token is, or may be, of this environment: its outcome here is that of the send.
      case 'gone':
      case 'throttled-device':
      case 'expired-authorization':
      case 'unknown':
        return outcome;
      case 'bad-token':
        return refusal;
      case 'bad-credential':
        if (side === 'own') return outcome;
        return this.#isOtherKnown ? inconclusive(refusal) : refusal;
      case 'bad-message':
      case 'throttled-target':
      case 'unavailable':
      case 'refused':
        // Faults of the other environment stop nothing in the own one.
        return side === 'own' ? outcome : inconclusive(refusal);
    }
  }

  #giveUp(number: number): void {
    const { refusal } = this.#tryOf(number);
    const unasked = this.#isClosing ? UNASKED : OTHER_SILENT;
    setImmediate(() => this.#finish(number, refusal === null ? unasked : inconclusive(refusal)));
  }

  #finish(number: number, outcome: Outcome): void {
    const { settle, position } = this.#tryOf(number);
    this.#tries[number] = null;
    this.#free.push(number);
    settle(position, outcome);
  }

  #tryOf(number: number): Try {
    const known = this.#tries[number];
    if (known === null || known === undefined) throw new Error(`send ${number} was answered twice`);
    return known;
  }

  #wake(): void {
    if (this.#wakes.length === 0 || (this.#isFull && !this.#isClosing)) return;
    for (const wake of this.#wakes.splice(0)) wake();
  }
}

const ACCEPTED_IN: Readonly<Record<ApnsEnvironment, Outcome>> = Object.freeze({
  production: Object.freeze({ kind: 'delivered', environment: 'production' }),
  sandbox: Object.freeze({ kind: 'delivered', environment: 'sandbox' }),
});

/** APNs looks at the token of a device only when it has accepted the key. */
const KEY_ACCEPTED: ReadonlySet<Outcome['kind']> = new Set(['delivered', 'gone', 'bad-token']);

const UNASKED: Outcome = Object.freeze({ kind: 'refused', reason: 'closing' });

/** For a token that is known to be of the other environment: it is tried again after its rest. */
const OTHER_SILENT: Outcome = Object.freeze({
  kind: 'unavailable',
  reason: 'the other environment does not answer',
  retryAfterMs: OTHER_REST_MS,
  isOneHost: true,
});

/** APNs' reason for a token that it does not know; the other environment may know it. */
const isOfOther = (outcome: Outcome): boolean =>
  outcome.kind === 'bad-token' && outcome.reason === 'BadDeviceToken' && !outcome.isUnasked;

const inconclusive = (refusal: Outcome): Outcome =>
  refusal.kind === 'bad-token' ? { ...refusal, isInconclusive: true } : refusal;
