/**
 * One connection of a simulated provider: hands its requests to the provider, and plays the
 * behaviour's faults of connections. Without faults, a request costs no more than its answer.
 */

import type { Duplex } from 'node:stream';
import { ErrorCode } from '../../../http2/src/error.ts';
import type { RequestHead } from '../../../http2/src/message/request.ts';
import { ServerConnection } from '../../../http2/src/server/server-connection.ts';
import type { Behaviour } from '../faults/behaviour.ts';
import type { EndStage } from '../faults/connection-end.ts';
import { ConnectionEnd, drawEnd } from '../faults/connection-end.ts';
import { answerDelay } from '../faults/latency.ts';
import type { Limits } from '../faults/stream-limit.ts';
import { StreamLimit } from '../faults/stream-limit.ts';
import { ConnectionMemory } from './connection-memory.ts';
import type { Handler, ProviderAnswer } from './exchange.ts';
import { BODY_BYTES_MAX } from './exchange.ts';

export interface ConnectionOptions {
  /** The limit of the real provider, used when the behaviour sets none. */
  readonly maxConcurrentStreams: number;
  /** The limit before a valid credential has arrived; absent: the same. */
  readonly streamsAtStart?: number;
  /** The debug data of its GOAWAY frames. */
  readonly goAwayText: string;
  readonly handle: Handler;
  /** A push was accepted, and its answer will never reach the client. */
  readonly onLostAnswer: (token: string) => void;
}

/**
 * A client that does not acknowledge a PING within this time never will.
 * @limit a PING's acknowledgement before a cut → cut without it
 */
const ACKNOWLEDGED_WITHIN_MS = 5_000;
/**
 * A silent connection ends after this time, so that a long test does not run out of sockets. Every
 * client has given up by then.
 * @limit a silent connection → closed
 */
const FROZEN_MS_MAX = 300_000;

interface DelayedAnswer {
  readonly answer: ProviderAnswer;
  readonly timer: NodeJS.Timeout;
}

const NO_BODY = Buffer.alloc(0);

export class ProviderConnection {
  readonly #options: ConnectionOptions;
  readonly #number: number;
  readonly #http2: ServerConnection;
  readonly #memory = new ConnectionMemory();
  readonly #streamLimit: StreamLimit;
  /** One for each PING that the client has not acknowledged. */
  readonly #whenAcknowledged: (() => void)[] = [];
  /** Answers that wait for the end of their latency. */
  readonly #delayed = new Map<number, DelayedAnswer>();
  #behaviour: Behaviour;
  #end: ConnectionEnd | null = null;
  #delayOf: ((request: number) => number) | null = null;
  #idleTimer: NodeJS.Timeout | undefined;
  #ageTimer: NodeJS.Timeout | undefined;
  #streamsOpened = 0;
  #clientPings = 0;
  #isPinging = false;
  #isCut = false;

  /** `number`: the number of the connection at its provider, for draws. */
  constructor(
    socket: Duplex,
    number: number,
    behaviour: Behaviour,
    options: ConnectionOptions,
    onClosed: () => void,
  ) {
    this.#options = options;
    this.#number = number;
    this.#behaviour = behaviour;
    const streams = this.#streamsOf(behaviour);
    const limits = {
      streamsMax: streams.full,
      streamsMaxAtStart: streams.atStart,
      // One more than a provider reads, so that it sees that there was more.
      bodyOctetsMax: BODY_BYTES_MAX + 1,
      // FCM's connections do this (internals/providers.md, "FCM: connections").
      endsApart: true,
      ...(behaviour.windowOctets === null ? {} : { windowOctets: behaviour.windowOctets }),
    };
    this.#http2 = new ServerConnection(socket, limits, {
      opened: (streamId) => this.#opened(streamId),
      requested: (streamId, head, body) => this.#requested(streamId, head, body),
      lost: (streamId) => this.#loseDelayed(streamId),
      pinged: () => this.#pinged(),
      pingAcknowledged: () => this.#whenAcknowledged.shift()?.(),
      closed: () => {
        clearTimeout(this.#idleTimer);
        clearTimeout(this.#ageTimer);
        onClosed();
      },
    });
    this.#streamLimit = new StreamLimit(this.#http2, streams);
    this.applyBehaviour(behaviour);
  }

  applyBehaviour(behaviour: Behaviour): void {
    this.#streamLimit.change(this.#streamsOf(behaviour), behaviour.streamsFall);
    this.#setEnd(behaviour);
    this.#delayOf = answerDelay(behaviour, this.#number);
    this.#behaviour = behaviour;
    this.#limitLife();
  }

  /**
   * Processes nothing more, and closes the socket when the client has read all answers to it. So it
   * is known which answers are lost.
   */
  cut(): void {
    this.#isCut = true;
    this.#whenRead(() => this.#http2.destroy('cut'));
  }

  #opened(streamId: number): void {
    this.#streamsOpened += 1;
    this.#clientPings = 0;
    this.#end?.opened(streamId, this.#streamsOpened);
  }

  /** Asks the provider, and answers after the latency. */
  #requested(streamId: number, head: RequestHead, body: Buffer): void {
    if (this.#isCut) return;
    const treatment = this.#end === null ? 'served' : this.#end.requested(streamId);
    if (treatment === 'ignored') return;
    this.#idleTimer?.refresh();
    const { method, path, authority, fields } = head;
    const connection = this.#memory;
    const answer = this.#options.handle({ method, path, authority, fields, body, connection });
    if (!this.#streamLimit.isSteady) {
      this.#streamLimit.judged(answer === 'silence' ? null : answer.status, connection.isTrusted);
    }
    if (answer === 'silence') return;
    if (treatment === 'unanswered') this.#lose(answer);
    else if (this.#delayOf === null) this.#respond(streamId, answer);
    else this.#respondLater(streamId, answer, this.#delayOf(streamId));
  }

  #respondLater(streamId: number, answer: ProviderAnswer, delayMs: number): void {
    const timer = this.#after(delayMs, () => {
      this.#delayed.delete(streamId);
      this.#respond(streamId, answer);
    });
    this.#delayed.set(streamId, { answer, timer });
  }

  #respond(streamId: number, answer: ProviderAnswer): void {
    const { status, fields, body } = answer;
    const octets = body === '' ? NO_BODY : Buffer.from(body);
    // After the PING of a cut, it is not known whether the client still reads an answer.
    if (this.#isCut) this.#lose(answer);
    else if (!this.#http2.respond(streamId, { status, fields, body: octets })) this.#lose(answer);
    else if (this.#behaviour.pingsAfterAnswers && !this.#isPinging) this.#ping();
  }

  #lose({ acceptedToken }: ProviderAnswer): void {
    if (acceptedToken !== undefined) this.#options.onLostAnswer(acceptedToken);
  }

  /** Lost at once, not at its time: by then the client may have sent the request again. */
  #loseDelayed(streamId: number): void {
    const delayed = this.#delayed.get(streamId);
    if (delayed === undefined) return;
    clearTimeout(delayed.timer);
    this.#delayed.delete(streamId);
    this.#lose(delayed.answer);
  }

  /** Measures the octets under way as Google does: one PING at a time. */
  #ping(): void {
    this.#isPinging = true;
    this.#whenRead(() => {
      this.#isPinging = false;
    });
  }

  #pinged(): void {
    this.#clientPings += 1;
    const { clientPingsMax } = this.#behaviour;
    if (clientPingsMax === null || this.#clientPings <= clientPingsMax) return;
    const { highestStreamId } = this.#http2;
    this.#http2.abandon(highestStreamId, ErrorCode.ENHANCE_YOUR_CALM, 'too_many_pings');
  }

  /** Calls back when the client has read everything sent to it, or surely never will. */
  #whenRead(act: () => void): void {
    let timer: NodeJS.Timeout | null = null;
    const once = (): void => {
      if (timer === null) return;
      clearTimeout(timer);
      timer = null;
      act();
    };
    timer = setTimeout(once, ACKNOWLEDGED_WITHIN_MS).unref();
    this.#whenAcknowledged.push(once);
    this.#http2.sendPing();
  }

  /** A behaviour that sets a number of streams gets it from the start. */
  #streamsOf({ maxConcurrentStreams }: Behaviour): Limits {
    const { streamsAtStart, maxConcurrentStreams: usual } = this.#options;
    const full = maxConcurrentStreams ?? usual;
    return { full, atStart: maxConcurrentStreams ?? streamsAtStart ?? full };
  }

  /** Keeps the present end if the same one is drawn: it may be under way. */
  #setEnd(behaviour: Behaviour): void {
    const drawn = drawEnd(behaviour, this.#number);
    const present = this.#end?.drawn;
    if (drawn?.kind === present?.kind && drawn?.requests === present?.requests) return;
    const stage: EndStage = {
      http2: this.#http2,
      goAwayText: this.#options.goAwayText,
      whenRead: (act) => this.#whenRead(act),
      cut: () => this.cut(),
      freeze: () => this.#freeze(),
    };
    this.#end = drawn === null ? null : new ConnectionEnd(drawn, stage);
  }

  #freeze(): void {
    this.#http2.freeze();
    for (const streamId of [...this.#delayed.keys()]) this.#loseDelayed(streamId);
    this.#after(FROZEN_MS_MAX, () => this.#http2.destroy('silent for long enough'));
  }

  /** Sets the time limits again; age counts from now on. */
  #limitLife(): void {
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#ageTimer);
    const { idleMsMax, ageMsMax } = this.#behaviour;
    this.#idleTimer = idleMsMax === 0 ? undefined : this.#after(idleMsMax, () => this.#idled());
    this.#ageTimer =
      ageMsMax === 0 ? undefined : this.#after(ageMsMax, () => this.#leave('max_age'));
  }

  #after(ms: number, act: () => void): NodeJS.Timeout {
    return setTimeout(act, ms).unref();
  }

  #idled(): void {
    if (this.#http2.streamsOpen > 0) this.#idleTimer?.refresh();
    else this.#leave('session_timeout');
  }

  /**
   * Serves the streams that have begun and no more. The words are FCM's (internals/providers.md,
   * "FCM: connections").
   */
  #leave(text: string): void {
    this.#http2.sendGoAway(this.#http2.highestStreamId, ErrorCode.NO_ERROR, text);
    this.#http2.drain();
  }
}
