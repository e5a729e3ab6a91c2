/** One send, over all its attempts: the only object of a send, so it receives the answers. */

import type { DeviceToken } from '../domain/device.ts';
import type { Member } from './pool/member.ts';
import type { Attempt, AttemptFailure, ReceivedAnswer } from './provider-connection.ts';
import type { RequestTemplate, Settle } from './transport.ts';

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
  /** Monotonic time at which the sender handed it over, or a little earlier. */
  readonly askedAtMs: number;
  /** The connection of the attempt under way, or of the last one. */
  member: Member | null = null;
  /** Monotonic time at which that attempt began. */
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
