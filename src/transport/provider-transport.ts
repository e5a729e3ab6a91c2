/**
 * The transport: sends over a pool of connections to one provider. It repeats requests that were
 * refused unprocessed on any connection with room. While the provider is unreachable, each send
 * ends with the reason, one at a time. `dial` decides which implementation carries the requests.
 *
 * ```
 *   send ──free stream──► under way ──answer──► settled
 *                             │  ├──refused unseen──► waiting ──free stream──► under way (refusalsMax times)
 *                             │  └──no whole answer─► settled `unknown`
 *   no connection, and a pause before the next attempt ──► settled `unavailable`, with the reason and the time of that attempt
 * ```
 */

import { foreignText } from '../../packages/std/src/foreign-text.ts';
import { sweepEveryMs } from '../../packages/std/src/sweep.ts';
import type { DeviceToken } from '../domain/device.ts';
import type { Outcome } from '../domain/outcome.ts';
import { retryAfterMs } from '../std/retry-after.ts';
import { TurnClock } from '../std/turn-clock.ts';
import { within } from '../std/within.ts';
import type { ExchangeEvents } from './exchange.ts';
import { Exchange } from './exchange.ts';
import { ConcurrencyLimit } from './pool/concurrency-limit.ts';
import type { PoolEvents } from './pool/connection-pool.ts';
import { ConnectionPool } from './pool/connection-pool.ts';
import type { Member } from './pool/member.ts';
import type { AttemptFailure, Dial, ReceivedAnswer } from './provider-connection.ts';
import type { Answer, RequestTemplate, Settle, Transport, TransportOptions } from './transport.ts';
import { TransportMeter } from './transport-meter.ts';

/**
 * Stored with each retry.
 * @limit a GOAWAY's or connection's reason that is kept → cut
 */
const REASON_LENGTH_MAX = 200;

const TOO_LATE: Outcome = Object.freeze({ kind: 'refused', reason: 'no stream was free in time' });
/** One answer for all accepted pushes: the provider's name for a push is of no use here. */
const ACCEPTED: Answer = Object.freeze({ status: 200, retryAfterMs: null, body: '' });

export class ProviderTransport implements Transport, PoolEvents, ExchangeEvents {
  readonly #options: TransportOptions;
  readonly #pool: ConnectionPool;
  readonly #concurrency: ConcurrencyLimit;
  readonly #meter: TransportMeter;
  readonly #turnClock = new TurnClock();
  /** Refused sends that wait for a stream, before new ones: no more than streams were open. */
  readonly #waiting: Exchange[] = [];
  #wakes: (() => void)[] = [];
  #authorization: string;
  /** When it was set, monotonic. A connection where the value before expires is given up. */
  #authorizedAtMs = 0;
  #isStartPlanned = false;
  #isExcusing = false;
  #unsettled = 0;
  #drained: (() => void) | null = null;
  #isClosing = false;
  #closed: Promise<void> | null = null;
  #sweeper: NodeJS.Timeout | null = null;
  #stuckSinceMs: number | null = null;

  constructor(dial: Dial, options: TransportOptions) {
    this.#options = options;
    this.#meter = options.meter ?? new TransportMeter();
    this.#pool = new ConnectionPool(dial, options, this, this.#meter);
    this.#concurrency = new ConcurrencyLimit(this.#pool.latency);
    this.#authorization = options.authorization;
  }

  /** The room of one connection; the others may have more. */
  get capacity(): number {
    if (this.#isClosing) return 0;
    const member = this.#pool.take();
    if (member !== null) {
      return Math.max(0, Math.min(member.free, this.#concurrency.free) - this.#waiting.length);
    }
    return this.#isResting && !this.#isExcusing ? 1 : 0;
  }

  get connections(): number {
    return this.#pool.size;
  }

  whenReady(): Promise<void> {
    if (this.#isClosing || this.capacity > 0) return Promise.resolve();
    const ready = new Promise<void>((resolve) => {
      this.#wakes.push(resolve);
    });
    this.#wantIfWanted();
    return ready;
  }

  send(
    template: RequestTemplate,
    token: DeviceToken,
    position: number,
    settle: Settle,
    body?: Buffer,
  ): void {
    const askedAtMs = this.#turnClock.nowMs();
    const exchange = new Exchange(template, token, position, settle, askedAtMs, this, body);
    this.#unsettled += 1;
    const member = this.#pool.take();
    if (member !== null) {
      this.#start(exchange, member);
    } else if (!this.#isClosing && this.#pool.size === 0 && this.#pool.pause.hasBeen) {
      this.#excuse(exchange);
    } else {
      setImmediate(() => this.#settle(exchange, { kind: 'refused', reason: 'no stream was free' }));
    }
  }

  warm(connections: number): void {
    this.#pool.warm(connections);
  }

  authorize(authorization: string): void {
    if (authorization === this.#authorization) return;
    this.#authorization = authorization;
    this.#authorizedAtMs = this.#turnClock.nowMs();
    this.#pool.retireWedged();
  }

  close(): Promise<void> {
    this.#isClosing = true;
    this.#closed ??= this.#close();
    return this.#closed;
  }

  answered(exchange: Exchange, received: ReceivedAnswer): void {
    this.#meter.streams -= 1;
    const { readFields = NO_FIELDS } = this.#options;
    const isPlain = received.status === ACCEPTED.status && readFields.length === 0;
    this.#judge(exchange, isPlain ? ACCEPTED : answerOf(received, readFields));
  }

  failed(exchange: Exchange, failure: AttemptFailure): void {
    this.#meter.streams -= 1;
    // A 200 (Web Push: 201) is valid even without the rest of the answer.
    if (failure.status !== null && isSuccess(failure.status)) {
      this.#judge(exchange, { ...ACCEPTED, status: failure.status });
      return;
    }
    this.#concurrency.failed();
    const reason = foreignText(failure.reason, REASON_LENGTH_MAX);
    if (failure.isUnprocessed) this.#tryAgain(exchange, reason);
    else this.#settle(exchange, { kind: 'unknown', reason });
  }

  freed(): void {
    this.#startSweeping();
    if (this.#waiting.length > 0) this.#startWaiting();
    this.#wake();
    this.#wantIfWanted();
  }

  paused(rawReason: string): void {
    const reason = foreignText(rawReason, REASON_LENGTH_MAX);
    for (const exchange of this.#waiting.splice(0)) {
      this.#settle(exchange, { kind: 'refused', reason });
    }
    this.#wake();
  }

  resumed(): void {
    this.#wantIfWanted();
    this.#wake();
  }

  get #isResting(): boolean {
    return this.#pool.size === 0 && this.#pool.pause.isOn;
  }

  #start(exchange: Exchange, member: Member): void {
    const nowMs = this.#turnClock.nowMs();
    exchange.member = member;
    exchange.startedAtMs = nowMs;
    this.#concurrency.started();
    this.#meter.streams += 1;
    member.start(exchange, this.#authorization, nowMs);
  }

  #startWaiting(): void {
    while (this.#waiting.length > 0) {
      const member = this.#pool.take();
      if (member === null) return;
      const exchange = this.#waiting.shift();
      if (exchange === undefined) return;
      if (this.#isLate(exchange)) this.#settle(exchange, TOO_LATE);
      else this.#start(exchange, member);
    }
  }

  #judge(exchange: Exchange, answer: Answer): void {
    const { member } = exchange;
    const outcome = this.#options.outcomeOf(answer);
    this.#concurrency.answered(outcome);
    if (member !== null) this.#note(member, outcome, exchange.startedAtMs);
    if (outcome.kind === 'refused') this.#tryAgain(exchange, outcome.reason);
    else this.#settle(exchange, outcome);
  }

  #note(member: Member, outcome: Outcome, startedAtMs: number): void {
    // This does not count as an answer: if connections bring no other, the pool pauses.
    if (outcome.kind === 'refused') {
      this.#pool.retire(member);
      return;
    }
    const latencyMs = this.#turnClock.nowMs() - startedAtMs;
    this.#pool.answered(member, latencyMs);
    this.#meter.answered(latencyMs);
    if (outcome.kind !== 'expired-authorization') return;
    member.isWedged = true;
    if (startedAtMs < this.#authorizedAtMs) this.#pool.retire(member);
  }

  #tryAgain(exchange: Exchange, reason: string): void {
    exchange.refusals += 1;
    if (
      this.#isClosing ||
      this.#isResting ||
      this.#isLate(exchange) ||
      exchange.refusals > this.#options.limits.refusalsMax
    ) {
      this.#settle(exchange, { kind: 'refused', reason });
      return;
    }
    this.#waiting.push(exchange);
    this.#startWaitingSoon();
    this.#wantIfWanted();
  }

  /** Room may come without an event. Not in this turn: after a refusal a lower limit may follow. */
  #startWaitingSoon(): void {
    if (this.#isStartPlanned) return;
    this.#isStartPlanned = true;
    setImmediate(() => {
      this.#isStartPlanned = false;
      this.#startWaiting();
    });
  }

  #excuse(exchange: Exchange): void {
    this.#isExcusing = true;
    setImmediate(() => {
      this.#isExcusing = false;
      const { reason, leftMs } = this.#pool.pause;
      this.#settle(exchange, {
        kind: 'unavailable',
        reason: foreignText(reason, REASON_LENGTH_MAX),
        retryAfterMs: leftMs,
      });
      this.#wantIfWanted();
      this.#wake();
    });
  }

  #settle(exchange: Exchange, outcome: Outcome): void {
    this.#unsettled -= 1;
    this.#meter.outcomes[outcome.kind] += 1;
    exchange.settle(exchange.position, outcome);
    if (this.#unsettled === 0) this.#drained?.();
  }

  #wantIfWanted(): void {
    if (this.#isClosing || this.#waiting.length + this.#wakes.length === 0) return;
    if (this.#pool.take() === null) this.#pool.want();
  }

  #wake(): void {
    if (this.#wakes.length === 0 || (!this.#isClosing && this.capacity === 0)) return;
    const wakes = this.#wakes;
    this.#wakes = [];
    for (const wake of wakes) wake();
  }

  #startSweeping(): void {
    if (this.#sweeper !== null || this.#isClosing) return;
    const everyMs = sweepEveryMs(this.#options.limits.requestTimeoutMs);
    this.#sweeper = setInterval(() => this.#sweep(), everyMs).unref();
  }

  #sweep(): void {
    for (const exchange of this.#waiting.filter((waiting) => this.#isLate(waiting))) {
      this.#waiting.splice(this.#waiting.indexOf(exchange), 1);
      this.#settle(exchange, TOO_LATE);
    }
    this.#pool.sweep(performance.now());
    this.#retireStuck();
  }

  /**
   * Retires connections that are full with nothing under way while sends wait: they allow no more
   * streams, or their windows are used up. After an answer's time nothing would end the wait.
   */
  #retireStuck(): void {
    const isUnderWay = this.#unsettled > this.#waiting.length;
    const isWanted = this.#wakes.length + this.#waiting.length > 0;
    if (this.#pool.size === 0 || this.#pool.take() !== null || !isWanted || isUnderWay) {
      this.#stuckSinceMs = null;
      return;
    }
    const nowMs = performance.now();
    this.#stuckSinceMs ??= nowMs;
    if (nowMs - this.#stuckSinceMs > this.#options.limits.requestTimeoutMs) this.#pool.retireAll();
  }

  /** Whether another node may have taken over its device: the process may have been frozen. */
  #isLate({ askedAtMs }: Exchange): boolean {
    return performance.now() - askedAtMs > this.#options.limits.requestTimeoutMs;
  }

  async #close(): Promise<void> {
    this.#pool.close();
    for (const exchange of this.#waiting.splice(0)) {
      this.#settle(exchange, { kind: 'refused', reason: 'closing' });
    }
    this.#wake();
    if (this.#unsettled > 0) await this.#drain();
    this.#pool.destroy();
    if (this.#sweeper !== null) clearInterval(this.#sweeper);
  }

  async #drain(): Promise<void> {
    const drained = new Promise<void>((resolve) => {
      this.#drained = resolve;
    });
    await within(this.#options.limits.drainTimeoutMs, drained, undefined);
  }
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

const NO_FIELDS: readonly string[] = [];

function answerOf({ status, fields, body }: ReceivedAnswer, readFields: readonly string[]): Answer {
  const field = fields.find(({ name }) => name === 'retry-after');
  const read = fields.filter(({ name }) => readFields.includes(name));
  return {
    status,
    retryAfterMs: retryAfterMs(field?.value, Date.now()),
    body: body.toString('utf8'),
    ...(read.length === 0
      ? {}
      : { fields: Object.fromEntries(read.map(({ name, value }) => [name, value])) }),
  };
}
