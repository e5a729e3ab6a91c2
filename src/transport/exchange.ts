/**
 * One send, over as many attempts as it takes. It is the only object that a send costs, so it hears
 * the answers itself.
 */

import type { DeviceToken } from '../domain/device.ts';
import type { Member } from './pool/member.ts';
import type { Attempt, AttemptFailure, ReceivedAnswer } from './provider-connection.ts';
import type { RequestTemplate, Settle } from './transport.ts';

/** Who decides what an attempt's end means. */
export interface ExchangeEvents {
  answered(exchange: Exchange, answer: ReceivedAnswer): void;
  failed(exchange: Exchange, failure: AttemptFailure): void;
}

export class Exchange implements Attempt {
  readonly template: RequestTemplate;
  readonly token: DeviceToken;
  readonly position: number;
  readonly settle: Settle;
  readonly body: Buffer | undefined;
  /** On the monotonic clock, and never later than it was handed over. */
  readonly askedAtMs: number;
  /** Of the attempt under way, or of the last one. */
  member: Member | null = null;
  /** When that attempt began, on the same clock. */
  startedAtMs = 0;
  refusals = 0;
  readonly #events: ExchangeEvents;

  constructor(
    template: RequestTemplate,
    token: DeviceToken,
    position: number,
    settle: Settle,
    askedAtMs: number,
    events: ExchangeEvents,
    body?: Buffer,
  ) {
    this.template = template;
    this.token = token;
    this.position = position;
    this.settle = settle;
    this.body = body;
    this.askedAtMs = askedAtMs;
    this.#events = events;
  }

  answered(answer: ReceivedAnswer): void {
    this.#events.answered(this, answer);
  }

  failed(failure: AttemptFailure): void {
    this.#events.failed(this, failure);
  }
}
