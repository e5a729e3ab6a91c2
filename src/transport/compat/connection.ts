/** One connection on `node:http2`, with its live stream limit, GOAWAYs and signs of life. */

import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import { constants } from 'node:http2';
import { sweepEveryMs } from '../../../packages/std/src/sweep.ts';
import type {
  Attempt,
  AttemptFailure,
  ConnectionEvents,
  ProviderConnection,
  ReceivedAnswer,
} from '../provider-connection.ts';
import type { TransportLimits } from '../transport.ts';

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants;

interface Request {
  readonly attempt: Attempt;
  readonly stream: ClientHttp2Stream;
  readonly startedAtMs: number;
  readonly chunks: Buffer[];
  bodyBytes: number;
  status: number;
  fields: ReceivedAnswer['fields'];
  hasEnded: boolean;
  isReported: boolean;
}

export class Connection implements ProviderConnection {
  readonly #session: ClientHttp2Session;
  readonly #limits: TransportLimits;
  readonly #events: ConnectionEvents;
  readonly #requests = new Set<Request>();
  readonly #sweeper: NodeJS.Timeout;
  #streamsMax: number;
  /** The peer did not process streams above it (RFC 9113, 6.8). */
  #lastStreamId = Number.POSITIVE_INFINITY;
  #isRetired = false;
  #isToCalmDown = false;
  #isGone = false;
  #reason = 'connection closed';
  #heardAtMs = performance.now();
  #pingedAtMs: number | null = null;
  #pingsInARow = 0;

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
      this.#isToCalmDown = code === constants.NGHTTP2_ENHANCE_YOUR_CALM;
      this.#lastStreamId = Math.min(this.#lastStreamId, lastStreamId);
      this.retire();
    });
    session.on('error', (error) => {
      if (this.#lastStreamId === Number.POSITIVE_INFINITY) this.#reason = error.message;
    });
    session.once('close', () => this.#finish());
    const everyMs = sweepEveryMs(limits.requestTimeoutMs);
    this.#sweeper = setInterval(() => this.#sweep(performance.now()), everyMs).unref();
  }

  /** Streams that may be opened now; the peer's limit may fall below the number of open ones. */
  get free(): number {
    if (this.#isRetired || this.#session.closed || this.#session.destroyed) return 0;
    return Math.max(0, Math.min(this.#streamsMax, this.#limits.streamsMax) - this.#requests.size);
  }

  start(attempt: Attempt, authorization: string): void {
    const { template, token, body } = attempt;
    const { tokenIn, pathBefore, bodyBefore, bodyAfter } = template;
    let stream: ClientHttp2Stream;
    try {
      stream = this.#session.request({
        ':method': 'POST',
        ':path': tokenIn === 'path' ? pathBefore + token : pathBefore,
        authorization,
        ...template.lastingFields,
        ...template.messageFields,
      });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      setImmediate(() => attempt.failed({ isUnprocessed: true, reason, status: null }));
      return;
    }
    this.#pingsInARow = 0;
    this.#follow(attempt, stream);
    if (body !== undefined) stream.end(body);
    else if (tokenIn === 'path') stream.end(bodyBefore);
    else stream.end(Buffer.concat([bodyBefore, Buffer.from(String(token)), bodyAfter]));
  }

  retire(): void {
    if (this.#isRetired) return;
    this.#isRetired = true;
    if (!this.#session.destroyed) this.#session.close();
    this.#events.retired(this.#reason, this.#isToCalmDown);
  }

  destroy(reason: string): void {
    this.#reason = reason;
    this.#session.destroy();
    this.#finish();
  }

  #sweep(nowMs: number): void {
    if (this.#pingedAtMs !== null && nowMs - this.#pingedAtMs > this.#limits.pingTimeoutMs) {
      this.destroy('no answer to PING');
      return;
    }
    for (const request of this.#requests) {
      if (request.isReported) continue;
      if (nowMs - request.startedAtMs <= this.#limits.requestTimeoutMs) continue;
      // Providers leave single streams unanswered; but a silent connection may be dead.
      if (this.#heardAtMs < request.startedAtMs) this.#ping(nowMs);
      this.#fail(request, false, 'no answer in time');
      request.stream.close(NGHTTP2_CANCEL);
    }
    if (nowMs - this.#heardAtMs > this.#limits.pingAfterSilenceMs) this.#ping(nowMs);
  }

  #follow(attempt: Attempt, stream: ClientHttp2Stream): void {
    const request: Request = {
      attempt,
      stream,
      startedAtMs: performance.now(),
      chunks: [],
      bodyBytes: 0,
      status: 0,
      fields: [],
      hasEnded: false,
      isReported: false,
    };
    this.#requests.add(request);
    stream.on('response', (headers) => {
      this.#heard();
      request.status = headers[':status'] ?? 0;
      request.fields = fieldsOf(headers);
      if (request.status === 200) stream.resume();
      else stream.on('data', (chunk: Buffer) => this.#keep(request, chunk));
    });
    stream.on('end', () => {
      request.hasEnded = true;
    });
    // 'close' follows, and its stream code says the same.
    stream.on('error', () => undefined);
    stream.on('close', () => {
      this.#requests.delete(request);
      this.#finishRequest(request);
      this.#events.freed();
    });
  }

  #keep(request: Request, chunk: Buffer): void {
    const room = this.#limits.bodyBytesMax - request.bodyBytes;
    if (room <= 0) return;
    const kept = chunk.subarray(0, room);
    request.bodyBytes += kept.length;
    request.chunks.push(kept);
  }

  #finishRequest(request: Request): void {
    const { stream, status } = request;
    // A stream that was cut off emits 'end' too; only its code shows the difference.
    if (request.hasEnded && stream.rstCode === NGHTTP2_NO_ERROR && status !== 0) {
      this.#answer(request);
    } else if (stream.rstCode === NGHTTP2_REFUSED_STREAM) {
      this.#fail(request, true, 'REFUSED_STREAM');
    } else if ((stream.id ?? 0) > this.#lastStreamId) {
      this.#fail(request, true, this.#reason);
    } else {
      const reason = `stream reset with code ${stream.rstCode}`;
      this.#fail(request, false, this.#session.destroyed ? this.#reason : reason);
    }
  }

  #answer(request: Request): void {
    if (request.isReported) return;
    request.isReported = true;
    request.attempt.answered(receivedAnswer(request));
  }

  #fail(request: Request, isUnprocessed: boolean, reason: string): void {
    if (request.isReported) return;
    request.isReported = true;
    const status = request.status === 0 ? null : request.status;
    const failure: AttemptFailure = { isUnprocessed, reason, status };
    request.attempt.failed(failure);
  }

  #finish(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#isRetired = true;
    clearInterval(this.#sweeper);
    for (const request of this.#requests) this.#finishRequest(request);
    this.#requests.clear();
    this.#events.gone(this.#reason);
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

const receivedAnswer = ({ status, fields, chunks }: Request): ReceivedAnswer => ({
  status,
  fields,
  body: Buffer.concat(chunks),
});

const fieldsOf = (headers: IncomingHttpHeaders): ReceivedAnswer['fields'] =>
  Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' ? { name, value } : [],
  );

/** APNs explains a GOAWAY with JSON, FCM with a word. */
const goawayReason = (code: number, data: Buffer | undefined): string =>
  data === undefined ? `GOAWAY ${code}` : `GOAWAY ${code} ${data.toString('utf8')}`.trimEnd();
