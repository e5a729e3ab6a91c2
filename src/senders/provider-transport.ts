/**
 * The transport: one connection to one provider, kept for the life of the sender. The provider's stream limit is obeyed live,
 * what it refused is tried again, and a provider that is not there costs one attempt to connect, then a pause. What carries
 * the requests, `dial` decides.
 *
 * ```
 *            whenReady                 SETTINGS
 *   idle ──────────────► connecting ──────────────► connected ──GOAWAY, lost──► idle (connecting, when something waits)
 *    ▲                        │ failed                  │ lost again before any answer
 *    └──────pause over──── pausing ◄────────────────────┘        pausing: one send at a time learns why
 * ```
 */

import type { Outcome } from '../domain/outcome.ts';
import { foreignText } from '../std/foreign-text.ts';
import { sweepEveryMs } from '../std/sweep.ts';
import { TurnClock } from '../std/turn-clock.ts';
import type { ExchangeEvents } from './exchange.ts';
import { Exchange } from './exchange.ts';
import type {
  AttemptFailure,
  ConnectionEvents,
  Dial,
  ProviderConnection,
  ReceivedAnswer,
} from './provider-connection.ts';
import { ReconnectPause } from './reconnect-pause.ts';
import { retryAfterMs } from './retry-after.ts';
import type { Settle } from './sender.ts';
import type { Answer, RequestTemplate, Transport, TransportOptions } from './transport.ts';

/** A GOAWAY may explain itself at length; longer than anything that was seen, and it is stored with each retry. */
const REASON_LENGTH_MAX = 200;

const TOO_LATE: Outcome = Object.freeze({ kind: 'refused', reason: 'no stream was free in time' });
/** What an accepted push is called by the provider is of no use to us: one answer for all of them. */
const ACCEPTED: Answer = Object.freeze({ status: 200, retryAfterMs: null, body: '' });

export class ProviderTransport implements Transport, ConnectionEvents, ExchangeEvents {
  readonly #dial: Dial;
  readonly #options: TransportOptions;
  readonly #pause: ReconnectPause;
  readonly #turnClock = new TurnClock();
  readonly #connections = new Set<ProviderConnection>();
  readonly #abort = new AbortController();
  /** Refused sends that wait for a stream; they go before new ones. Bounded by the streams that were open. */
  readonly #waiting: Exchange[] = [];
  #wakes: (() => void)[] = [];
  #authorization: string;
  #current: ProviderConnection | null = null;
  #isConnecting = false;
  #isExcusing = false;
  #unsettled = 0;
  #drained: (() => void) | null = null;
  #isClosing = false;
  #closed: Promise<void> | null = null;
  #sweeper: NodeJS.Timeout | null = null;
  #stuckSinceMs: number | null = null;

  constructor(dial: Dial, options: TransportOptions) {
    this.#dial = dial;
    this.#options = options;
    this.#pause = new ReconnectPause(options.limits);
    this.#authorization = options.authorization;
  }

  get capacity(): number {
    if (this.#isClosing) return 0;
    if (this.#current !== null) return Math.max(0, this.#current.free - this.#waiting.length);
    return this.#pause.isOn && !this.#isExcusing ? 1 : 0;
  }

  whenReady(): Promise<void> {
    if (this.#isClosing || this.capacity > 0) return Promise.resolve();
    const ready = new Promise<void>((resolve) => {
      this.#wakes.push(resolve);
    });
    this.#connectIfWanted();
    return ready;
  }

  send(
    template: RequestTemplate,
    token: string,
    position: number,
    settle: Settle,
    body?: Buffer,
  ): void {
    const askedAtMs = this.#turnClock.nowMs();
    const exchange = new Exchange(template, token, position, settle, askedAtMs, this, body);
    this.#unsettled += 1;
    if (this.#current !== null && this.#current.free > 0) {
      this.#start(exchange, this.#current);
    } else if (!this.#isClosing && this.#current === null && this.#pause.hasBeen) {
      this.#excuse(exchange);
    } else {
      setImmediate(() => this.#settle(exchange, { kind: 'refused', reason: 'no stream was free' }));
    }
  }

  authorize(authorization: string): void {
    if (authorization === this.#authorization) return;
    this.#authorization = authorization;
    if (this.#current?.isWedged) this.#current.retire();
  }

  close(): Promise<void> {
    this.#isClosing = true;
    this.#closed ??= this.#close();
    return this.#closed;
  }

  answered(exchange: Exchange, received: ReceivedAnswer): void {
    this.#judge(exchange, received.status === ACCEPTED.status ? ACCEPTED : answerOf(received));
  }

  failed(exchange: Exchange, failure: AttemptFailure): void {
    // A 200 (Web Push: 201) is the provider's word even without the rest.
    if (failure.status !== null && isSuccess(failure.status)) {
      this.#judge(exchange, { ...ACCEPTED, status: failure.status });
      return;
    }
    const reason = foreignText(failure.reason, REASON_LENGTH_MAX);
    if (failure.isUnprocessed) this.#tryAgain(exchange, reason);
    else this.#settle(exchange, { kind: 'unknown', reason });
  }

  freed(): void {
    if (this.#waiting.length > 0) this.#startWaiting();
    this.#wake();
  }

  retired(connection: ProviderConnection, reason: string): void {
    this.#lose(connection, reason);
  }

  gone(connection: ProviderConnection, reason: string): void {
    this.#connections.delete(connection);
    this.#lose(connection, reason);
  }

  #start(exchange: Exchange, connection: ProviderConnection): void {
    exchange.connection = connection;
    connection.start(exchange, this.#authorization);
  }

  #startWaiting(): void {
    while (this.#current !== null && this.#current.free > 0) {
      const exchange = this.#waiting.shift();
      if (exchange === undefined) return;
      if (this.#isLate(exchange)) this.#settle(exchange, TOO_LATE);
      else this.#start(exchange, this.#current);
    }
  }

  #judge(exchange: Exchange, answer: Answer): void {
    const { connection } = exchange;
    this.#pause.forget();
    const outcome = this.#options.outcomeOf(answer);
    if (connection !== null) {
      connection.hasAnswered = true;
      if (outcome.kind === 'expired-authorization') connection.isWedged = true;
      if (outcome.kind === 'refused') connection.retire();
    }
    if (outcome.kind === 'refused') this.#tryAgain(exchange, outcome.reason);
    else this.#settle(exchange, outcome);
  }

  #tryAgain(exchange: Exchange, reason: string): void {
    exchange.refusals += 1;
    if (
      this.#isClosing ||
      this.#pause.isOn ||
      this.#isLate(exchange) ||
      exchange.refusals > this.#options.limits.refusalsMax
    ) {
      this.#settle(exchange, { kind: 'refused', reason });
      return;
    }
    this.#waiting.push(exchange);
    this.#connectIfWanted();
  }

  /** Between attempts to connect: the send ends at once with the reason, and says when the next attempt may be. */
  #excuse(exchange: Exchange): void {
    this.#isExcusing = true;
    setImmediate(() => {
      this.#isExcusing = false;
      const { reason, leftMs } = this.#pause;
      this.#settle(exchange, { kind: 'unavailable', reason, retryAfterMs: leftMs });
      this.#connectIfWanted();
      this.#wake();
    });
  }

  #settle(exchange: Exchange, outcome: Outcome): void {
    this.#unsettled -= 1;
    exchange.settle(exchange.position, outcome);
    if (this.#unsettled === 0) this.#drained?.();
  }

  #connectIfWanted(): void {
    if (this.#current !== null || this.#isConnecting || this.#isClosing) return;
    if (this.#pause.isOn || (this.#waiting.length === 0 && this.#wakes.length === 0)) return;
    this.#isConnecting = true;
    void this.#connect();
  }

  async #connect(): Promise<void> {
    const { origin, ca, limits } = this.#options;
    const dialled = await this.#dial({ origin, ca, limits, signal: this.#abort.signal }, this);
    this.#isConnecting = false;
    if (!dialled.ok) {
      this.#giveItAPause(dialled.reason);
      return;
    }
    if (this.#isClosing) {
      dialled.connection.destroy('closing');
      return;
    }
    this.#current = dialled.connection;
    this.#connections.add(dialled.connection);
    this.#startSweeping();
    this.freed();
  }

  /** This connection takes no more requests. */
  #lose(connection: ProviderConnection, reason: string): void {
    if (this.#current !== connection) return;
    this.#current = null;
    if (!connection.hasAnswered && this.#pause.countFruitless()) this.#giveItAPause(reason);
    this.#connectIfWanted();
  }

  /** No attempt to connect for a while; nobody is left waiting for one. */
  #giveItAPause(rawReason: string): void {
    const reason = foreignText(rawReason, REASON_LENGTH_MAX);
    const pauseMs = this.#pause.begin(reason);
    // Whoever began to wait in the very moment the pause ends would otherwise wait for ever.
    setTimeout(() => {
      this.#connectIfWanted();
      this.#wake();
    }, Math.ceil(pauseMs) + 1).unref();
    for (const exchange of this.#waiting.splice(0)) {
      this.#settle(exchange, { kind: 'refused', reason });
    }
    this.#wake();
  }

  #wake(): void {
    if (this.#wakes.length === 0 || (!this.#isClosing && this.capacity === 0)) return;
    const wakes = this.#wakes;
    this.#wakes = [];
    for (const wake of wakes) wake();
  }

  #startSweeping(): void {
    const { requestTimeoutMs } = this.#options.limits;
    this.#sweeper ??= setInterval(() => this.#sweep(), sweepEveryMs(requestTimeoutMs)).unref();
  }

  #sweep(): void {
    for (const exchange of this.#waiting.filter((waiting) => this.#isLate(waiting))) {
      this.#waiting.splice(this.#waiting.indexOf(exchange), 1);
      this.#settle(exchange, TOO_LATE);
    }
    this.#retireStuck();
  }

  /**
   * Somebody waits for a connection that is full with nothing under way: it allows no stream any more, or its window is used
   * up. The provider has as long as for an answer to allow more; otherwise everybody would wait for ever.
   */
  #retireStuck(): void {
    const isUnderWay = this.#unsettled > this.#waiting.length;
    const isWanted = this.#wakes.length + this.#waiting.length > 0;
    if (this.#current?.free !== 0 || !isWanted || isUnderWay) {
      this.#stuckSinceMs = null;
      return;
    }
    const nowMs = performance.now();
    this.#stuckSinceMs ??= nowMs;
    if (nowMs - this.#stuckSinceMs > this.#options.limits.requestTimeoutMs) this.#current.retire();
  }

  /** It was handed over so long ago (the process may have been frozen) that another may have taken its device over. */
  #isLate({ askedAtMs }: Exchange): boolean {
    return performance.now() - askedAtMs > this.#options.limits.requestTimeoutMs;
  }

  async #close(): Promise<void> {
    this.#abort.abort();
    for (const exchange of this.#waiting.splice(0)) {
      this.#settle(exchange, { kind: 'refused', reason: 'closing' });
    }
    this.#wake();
    if (this.#unsettled > 0) await this.#drain();
    for (const connection of this.#connections) connection.destroy('closing');
    if (this.#sweeper !== null) clearInterval(this.#sweeper);
  }

  async #drain(): Promise<void> {
    const drained = new Promise<void>((resolve) => {
      this.#drained = resolve;
    });
    let timer: NodeJS.Timeout | undefined;
    const bound = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#options.limits.drainTimeoutMs);
    });
    await Promise.race([drained, bound]);
    clearTimeout(timer);
  }
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

function answerOf({ status, fields, body }: ReceivedAnswer): Answer {
  const field = fields.find(({ name }) => name === 'retry-after');
  return {
    status,
    retryAfterMs: retryAfterMs(field?.value, Date.now()),
    body: body.toString('utf8'),
  };
}
