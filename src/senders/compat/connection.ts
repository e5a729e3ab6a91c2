/**
 * One HTTP/2 session to a provider, and every request on it from its first byte to its end. It knows the live stream
 * limit, which requests a GOAWAY left unread, and whether the peer still lives; it retries nothing.
 */

import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { constants } from 'node:http2';
import { foreignText } from '../../std/foreign-text.ts';
import type { Settle } from '../sender.ts';
import type { RequestTemplate, TransportLimits } from '../transport.ts';

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants;

/** One send, over as many attempts as it takes. */
export interface Exchange {
  readonly template: RequestTemplate;
  readonly token: string;
  readonly position: number;
  readonly settle: Settle;
  /** On the monotonic clock. */
  readonly askedAtMs: number;
  refusals: number;
}

/** How one attempt ended. */
export type AttemptEnd =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly retryAfter: unknown;
      readonly body: string;
    }
  /** The provider did not look at it. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string };

export interface ConnectionEvents {
  /** Exactly once for each exchange started, never from inside `start`. */
  ended(connection: Connection, exchange: Exchange, end: AttemptEnd): void;
  /** More streams may be free than before. */
  freed(): void;
  /** It takes no more requests; those under way go on. */
  retired(connection: Connection): void;
  /** It is gone, and `ended` was called for all that was under way. */
  gone(connection: Connection, reason: string): void;
}

interface Attempt {
  readonly exchange: Exchange;
  readonly stream: ClientHttp2Stream;
  readonly startedAtMs: number;
  status: number;
  retryAfter: unknown;
  body: string;
  hasEnded: boolean;
  isReported: boolean;
}

export class Connection {
  readonly #session: ClientHttp2Session;
  readonly #limits: TransportLimits;
  readonly #events: ConnectionEvents;
  readonly #attempts = new Set<Attempt>();
  #streamsMax: number;
  /** Streams above it were never looked at (RFC 9113, 6.8). */
  #lastStreamId = Number.POSITIVE_INFINITY;
  #isRetired = false;
  #isGone = false;
  #reason = 'connection closed';
  #heardAtMs = performance.now();
  #pingedAtMs: number | null = null;
  #pingsInARow = 0;
  /** Whether the peer has answered anything here: one that never does is not reconnected to in a hurry. */
  hasAnswered = false;
  /** Whether an expired authorization was seen: APNs keeps refusing on that connection (pushy closes it too). */
  isWedged = false;

  constructor(session: ClientHttp2Session, limits: TransportLimits, events: ConnectionEvents) {
    this.#session = session;
    this.#limits = limits;
    this.#events = events;
    this.#streamsMax = session.remoteSettings.maxConcurrentStreams ?? limits.streamsMax;
    session.on('remoteSettings', (settings) => {
      this.#heard();
      this.#streamsMax = settings.maxConcurrentStreams ?? limits.streamsMax;
      events.freed();
    });
    session.on('goaway', (code: number, lastStreamId: number, data?: Buffer) => {
      this.#heard();
      this.#reason = goawayReason(code, data);
      this.#lastStreamId = Math.min(this.#lastStreamId, lastStreamId);
      this.retire();
    });
    session.on('error', (error) => {
      if (this.#lastStreamId === Number.POSITIVE_INFINITY) this.#reason = error.message;
    });
    session.once('close', () => this.#finish());
  }

  /** Streams that may be opened now: the peer's limit, which may fall below what is open, and never more than ours. */
  get free(): number {
    if (this.#isRetired || this.#session.closed || this.#session.destroyed) return 0;
    return Math.max(0, Math.min(this.#streamsMax, this.#limits.streamsMax) - this.#attempts.size);
  }

  /** Opens a stream for it. The caller has seen `free` above 0. */
  start(exchange: Exchange, authorization: string): void {
    const { template, token } = exchange;
    const isInPath = template.tokenIn === 'path';
    let stream: ClientHttp2Stream;
    try {
      stream = this.#session.request({
        ':method': 'POST',
        ':path': isInPath ? template.pathBefore + token : template.pathBefore,
        authorization,
        ...template.fields,
      });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      setImmediate(() => this.#events.ended(this, exchange, { kind: 'refused', reason }));
      return;
    }
    this.#pingsInARow = 0;
    this.#follow(exchange, stream);
    stream.end(
      isInPath ? template.bodyBefore : template.bodyBefore + token + template.bodyAfter,
      'utf8',
    );
  }

  /** Takes no more requests; closes when those under way have ended. */
  retire(): void {
    if (this.#isRetired) return;
    this.#isRetired = true;
    if (!this.#session.destroyed) this.#session.close();
    this.#events.retired(this);
  }

  /** Ends everything now: what is under way is `unknown`. */
  destroy(reason: string): void {
    this.#reason = reason;
    this.#session.destroy();
    this.#finish();
  }

  /** Called about every second: time-outs and signs of life. */
  sweep(nowMs: number): void {
    if (this.#pingedAtMs !== null && nowMs - this.#pingedAtMs > this.#limits.pingTimeoutMs) {
      this.destroy('no answer to PING');
      return;
    }
    for (const attempt of this.#attempts) {
      if (attempt.isReported) continue;
      if (nowMs - attempt.startedAtMs <= this.#limits.requestTimeoutMs) continue;
      // One unanswered stream is the provider's habit; a connection silent since it began may be dead.
      if (this.#heardAtMs < attempt.startedAtMs) this.#ping(nowMs);
      this.#report(attempt, { kind: 'unknown', reason: 'no answer in time' });
      attempt.stream.close(NGHTTP2_CANCEL);
    }
    if (nowMs - this.#heardAtMs > this.#limits.pingAfterSilenceMs) this.#ping(nowMs);
  }

  #follow(exchange: Exchange, stream: ClientHttp2Stream): void {
    const attempt: Attempt = {
      exchange,
      stream,
      startedAtMs: performance.now(),
      status: 0,
      retryAfter: undefined,
      body: '',
      hasEnded: false,
      isReported: false,
    };
    this.#attempts.add(attempt);
    stream.on('response', (headers) => {
      this.#heard();
      attempt.status = headers[':status'] ?? 0;
      attempt.retryAfter = headers['retry-after'];
      // What an accepted push is called by the provider is of no use to us.
      if (attempt.status === 200) stream.resume();
      else this.#collectBody(attempt);
    });
    stream.on('end', () => {
      attempt.hasEnded = true;
    });
    // 'close' follows, and the code it finds says the same.
    stream.on('error', () => undefined);
    stream.on('close', () => {
      this.#attempts.delete(attempt);
      this.#report(attempt, this.#endOf(attempt));
      this.#events.freed();
    });
  }

  #collectBody(attempt: Attempt): void {
    attempt.stream.setEncoding('utf8');
    attempt.stream.on('data', (chunk: string) => {
      const room = this.#limits.bodyBytesMax - attempt.body.length;
      if (room > 0) attempt.body += chunk.slice(0, room);
    });
  }

  #endOf(attempt: Attempt): AttemptEnd {
    const { stream, status, retryAfter, body } = attempt;
    // A stream that was cut off emits 'end' as well; only its code tells. A 200 is the provider's word even without the rest.
    const isComplete = attempt.hasEnded && stream.rstCode === NGHTTP2_NO_ERROR && status !== 0;
    if (isComplete || status === 200) return { kind: 'answered', status, retryAfter, body };
    if (stream.rstCode === NGHTTP2_REFUSED_STREAM) {
      return { kind: 'refused', reason: 'REFUSED_STREAM' };
    }
    if ((stream.id ?? 0) > this.#lastStreamId) return { kind: 'refused', reason: this.#reason };
    return {
      kind: 'unknown',
      reason: this.#session.destroyed ? this.#reason : `stream reset with code ${stream.rstCode}`,
    };
  }

  #report(attempt: Attempt, end: AttemptEnd): void {
    if (attempt.isReported) return;
    attempt.isReported = true;
    this.#events.ended(this, attempt.exchange, end);
  }

  #finish(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#isRetired = true;
    for (const attempt of this.#attempts) this.#report(attempt, this.#endOf(attempt));
    this.#attempts.clear();
    this.#events.gone(this, this.#reason);
  }

  #heard(): void {
    this.#heardAtMs = performance.now();
  }

  #ping(nowMs: number): void {
    if (this.#pingedAtMs !== null || this.#pingsInARow >= this.#limits.pingsInARowMax) return;
    if (this.#session.destroyed) return;
    this.#pingsInARow += 1;
    this.#pingedAtMs = nowMs;
    this.#session.ping((error) => {
      this.#pingedAtMs = null;
      if (error === null) this.#heard();
    });
  }
}

/** Longer than anything that was seen; it is stored with each retry. */
const GOAWAY_WORDS_MAX = 200;

/** APNs explains a GOAWAY with JSON, FCM with a word. */
function goawayReason(code: number, data: Buffer | undefined): string {
  const said = data === undefined ? '' : foreignText(data.toString('utf8'), GOAWAY_WORDS_MAX);
  return said === '' ? `GOAWAY ${code}` : `GOAWAY ${code} ${said}`;
}
