/**
 * The transport on http2-wrapper's sessions: one connection to one provider, kept for the life of the sender. One carries
 * all that `node:http2` can write from one thread; a pool comes with our own framing. Its stream limit is obeyed live,
 * what the provider refused is tried again, and a provider that is not there costs one attempt to connect, then a pause.
 *
 * ```
 *            whenReady                 SETTINGS
 *   idle ──────────────► connecting ──────────────► connected ──GOAWAY, lost──► idle (connecting, when something waits)
 *    ▲                        │ failed                  │ lost again before any answer
 *    └──────pause over──── pausing ◄────────────────────┘        pausing: one send at a time learns why
 * ```
 */

import type { Outcome } from '../../domain/outcome.ts';
import { retryAfterMs } from '../retry-after.ts';
import type { Settle } from '../sender.ts';
import type { RequestTemplate, Transport, TransportOptions } from '../transport.ts';
import type { AttemptEnd, ConnectionEvents, Exchange } from './connection.ts';
import { Connection } from './connection.ts';
import { dial } from './dial.ts';

/** A time-out is late by at most this, and looking costs a walk over the streams under way. */
const SWEEP_EVERY_MS_MAX = 1_000;
/** Short time-outs, as tests use them, are looked at this often within their length. */
const SWEEPS_PER_TIMEOUT = 4;
/** A connection that answered nothing may have met a GOAWAY of its peer's restart; the second one in a row is a fault. */
const FRUITLESS_CONNECTIONS_MAX = 1;

const TOO_LATE: Outcome = Object.freeze({ kind: 'refused', reason: 'no stream was free in time' });

export class CompatTransport implements Transport, ConnectionEvents {
  readonly #options: TransportOptions;
  readonly #connections = new Set<Connection>();
  readonly #abort = new AbortController();
  /** Refused sends that wait for a stream; they go before new ones. Bounded by the streams that were open. */
  readonly #waiting: Exchange[] = [];
  #wakes: (() => void)[] = [];
  #authorization: string;
  #current: Connection | null = null;
  #isConnecting = false;
  #isExcusing = false;
  #fruitless = 0;
  #pauses = 0;
  #resumesAtMs = 0;
  #pauseReason = '';
  #unsettled = 0;
  #drained: (() => void) | null = null;
  #isClosing = false;
  #closed: Promise<void> | null = null;
  #sweeper: NodeJS.Timeout | null = null;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#authorization = options.authorization;
  }

  get capacity(): number {
    if (this.#isClosing) return 0;
    if (this.#current !== null) return Math.max(0, this.#current.free - this.#waiting.length);
    return this.#isPausing() && !this.#isExcusing ? 1 : 0;
  }

  whenReady(): Promise<void> {
    if (this.#isClosing || this.capacity > 0) return Promise.resolve();
    const ready = new Promise<void>((resolve) => {
      this.#wakes.push(resolve);
    });
    this.#connectIfWanted();
    return ready;
  }

  send(template: RequestTemplate, token: string, position: number, settle: Settle): void {
    const askedAtMs = performance.now();
    const exchange: Exchange = { template, token, position, settle, askedAtMs, refusals: 0 };
    this.#unsettled += 1;
    if (this.#current !== null && this.#current.free > 0) {
      this.#current.start(exchange, this.#authorization);
    } else if (!this.#isClosing && this.#current === null && this.#pauses > 0) {
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

  ended(connection: Connection, exchange: Exchange, end: AttemptEnd): void {
    switch (end.kind) {
      case 'answered':
        this.#answered(connection, exchange, end);
        return;
      case 'refused':
        this.#tryAgain(exchange, end.reason);
        return;
      case 'unknown':
        this.#settle(exchange, { kind: 'unknown', reason: end.reason });
        return;
    }
  }

  freed(): void {
    while (this.#current !== null && this.#current.free > 0) {
      const exchange = this.#waiting.shift();
      if (exchange === undefined) break;
      if (this.#isLate(exchange)) this.#settle(exchange, TOO_LATE);
      else this.#current.start(exchange, this.#authorization);
    }
    this.#wake();
  }

  retired(connection: Connection): void {
    if (this.#current !== connection) return;
    this.#current = null;
    if (!connection.hasAnswered) this.#fruitless += 1;
    if (this.#fruitless > FRUITLESS_CONNECTIONS_MAX) this.#pause('closed by the provider');
    this.#connectIfWanted();
  }

  gone(connection: Connection, reason: string): void {
    this.#connections.delete(connection);
    if (this.#current !== connection) return;
    this.#current = null;
    if (!connection.hasAnswered) this.#fruitless += 1;
    if (this.#fruitless > FRUITLESS_CONNECTIONS_MAX) this.#pause(reason);
    this.#connectIfWanted();
  }

  #answered(
    connection: Connection,
    exchange: Exchange,
    end: AttemptEnd & { readonly kind: 'answered' },
  ): void {
    connection.hasAnswered = true;
    this.#fruitless = 0;
    this.#pauses = 0;
    const outcome = this.#options.outcomeOf({
      status: end.status,
      retryAfterMs: retryAfterMs(end.retryAfter, Date.now()),
      body: end.body,
    });
    if (outcome.kind === 'refused') {
      connection.retire();
      this.#tryAgain(exchange, outcome.reason);
      return;
    }
    if (outcome.kind === 'expired-authorization') connection.isWedged = true;
    this.#settle(exchange, outcome);
  }

  #tryAgain(exchange: Exchange, reason: string): void {
    exchange.refusals += 1;
    if (
      this.#isClosing ||
      this.#isPausing() ||
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
      const waitMs = Math.ceil(Math.max(0, this.#resumesAtMs - performance.now()));
      this.#settle(exchange, {
        kind: 'unavailable',
        reason: this.#pauseReason,
        retryAfterMs: waitMs,
      });
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
    if (this.#isPausing() || (this.#waiting.length === 0 && this.#wakes.length === 0)) return;
    this.#isConnecting = true;
    void this.#connect();
  }

  async #connect(): Promise<void> {
    const { origin, ca, limits } = this.#options;
    const dialled = await dial(origin, {
      ca,
      timeoutMs: limits.connectTimeoutMs,
      signal: this.#abort.signal,
    });
    this.#isConnecting = false;
    if (!dialled.ok) {
      this.#pause(dialled.reason);
      return;
    }
    if (this.#isClosing) {
      dialled.session.destroy();
      return;
    }
    this.#current = new Connection(dialled.session, limits, this);
    this.#connections.add(this.#current);
    this.#startSweeping();
    this.freed();
  }

  #isPausing(): boolean {
    return performance.now() < this.#resumesAtMs;
  }

  /** No attempt to connect for a while; nobody is left waiting for one. */
  #pause(reason: string): void {
    const { reconnectPauseMs, reconnectPauseMsMax } = this.#options.limits;
    const wholeMs = Math.min(reconnectPauseMs * 2 ** this.#pauses, reconnectPauseMsMax);
    this.#pauses += 1;
    this.#pauseReason = reason;
    // Half of it by chance, so that a thousand workers do not come back in the same moment.
    const pauseMs = wholeMs * (0.5 + Math.random() / 2);
    this.#resumesAtMs = performance.now() + pauseMs;
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
    this.#sweeper ??= setInterval(
      () => this.#sweep(),
      Math.min(SWEEP_EVERY_MS_MAX, requestTimeoutMs / SWEEPS_PER_TIMEOUT),
    ).unref();
  }

  #sweep(): void {
    const nowMs = performance.now();
    for (const connection of this.#connections) connection.sweep(nowMs);
    for (const exchange of this.#waiting.filter((waiting) => this.#isLate(waiting))) {
      this.#waiting.splice(this.#waiting.indexOf(exchange), 1);
      this.#settle(exchange, TOO_LATE);
    }
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
