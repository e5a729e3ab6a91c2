/** The HTTP service: an exchange for each request, limits on requests and bodies under way. */

import type { Logger } from 'pino';
import type {
  HttpListener,
  Malformed,
  Receiver,
  Reply,
  RequestHandler,
} from '../../packages/http1/src/front.ts';
import { Listener } from '../../packages/http1/src/listener.ts';
import type { RequestHead } from '../../packages/http1/src/request-head.ts';
import { UwsListener } from '../../packages/http1-uws/src/listener.ts';
import { Seldom } from '../../packages/std/src/seldom.ts';
import { createTokenCheck } from '../access/operator-token.ts';
import { listenFault } from '../http/address-fault.ts';
import type { CertificateFiles } from '../http/certificate.ts';
import { Certificate } from '../http/certificate.ts';
import type { Front } from '../http/choose-front.ts';
import { createAddressResolver, createSecurityResolver } from '../http/client-address.ts';
import { createCors } from '../http/cors.ts';
import type { HttpResponse, Route } from '../http/handler.ts';
import { NO_HEADERS, READ_HEADERS } from '../http/read-headers.ts';
import { Router } from '../http/router.ts';
import { FailureLog } from '../telemetry/failure-log.ts';
import type { Metric } from '../telemetry/metric.ts';
import type { Tracer } from '../telemetry/traces/tracer.ts';
import type { AdmissionLimits } from './admission.ts';
import { Admission } from './admission.ts';
import { CallerRates } from './caller-rates.ts';
import type { Desk } from './conversation.ts';
import { Conversation } from './conversation.ts';
import type { ExchangeParts } from './exchange.ts';
import { Exchange } from './exchange.ts';
import { connectionMetrics, frontMetric } from './metrics.ts';
import { OpenStreams } from './open-streams.ts';
import type { RequestLogMode } from './request-log.ts';
import { RequestLog } from './request-log.ts';
import { RequestTraces } from './request-traces.ts';

export interface ServerOptions
  extends Pick<ExchangeParts, 'authenticator' | 'sessions' | 'failures' | 'counts'> {
  readonly log: Logger;
  readonly requestLog: RequestLogMode;
  readonly tracer: Tracer | null;
  readonly routes: readonly Route[];
  readonly front: Front;
  readonly host: string;
  /** 0: a free port. */
  readonly port: number;
  readonly tls: CertificateFiles | null;
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: readonly string[];
  /** The token of the person who runs the installation; null: there is none. */
  readonly operatorToken: string | null;
  readonly connectionsMax: number;
  readonly limits?: Partial<ServerLimits>;
}

export interface ServerLimits extends AdmissionLimits {
  /** From the start of a connection, or the first byte of a head, to the end of the head. */
  readonly headTimeoutMs: number;
  /** From an answer to the next request on its connection. */
  readonly idleTimeoutMs: number;
  /** From the head of a request to the end of its body. */
  readonly bodyTimeoutMs: number;
  /** From an answer until the system has taken all of it. */
  readonly answerTimeoutMs: number;
  readonly unsentBytesMax: number;
  /** When closing, an idle connection waits so long for a request on the network. */
  readonly closingGraceMs: number;
  readonly drainTimeoutMs: number;
}

export interface Server {
  readonly port: number;
  readonly metrics: readonly Metric[];
  /** Answers what is under way or arrives within a moment, then closes every connection. */
  close(): Promise<void>;
  /** Reads the certificate's files again, for new connections. */
  reloadCertificate(): Promise<void>;
}

const SERVER_LIMITS: ServerLimits = {
  /**
   * 2–4 KiB each: at most 80 MiB. Registrations have a limit of their own below this.
   * @limit requests being read or handled, per process; those of health and metrics are counted
   * apart → `503`
   */
  requestsMax: 20_000,
  /**
   * @limit bytes of bodies not yet answered, and what they become when they are parsed, per process
   * → `503`
   */
  bodyBytesMax: 268_435_456,
  /**
   * A phone in a tunnel needs some seconds.
   * @limit time to the end of a head, from its first byte or the beginning of the connection →
   * `408`; a connection that said nothing is closed
   */
  headTimeoutMs: 10_000,
  /**
   * Longer than proxies keep theirs (nginx: 60 s), so none closes as a request arrives.
   * @limit time between requests of a connection → closed
   */
  idleTimeoutMs: 75_000,
  /** @limit time from the head to the end of the body → `408`, connection closed */
  bodyTimeoutMs: 30_000,
  /**
   * Ten megabytes, a catalogue of 100,000 tags, at 280 kbit/s.
   * @limit time in which all of an answer is taken → closed
   */
  answerTimeoutMs: 300_000,
  /**
   * A dozen of the largest answers, of a process that has 500 MB.
   * @limit bytes of answers that have not been taken, over all connections → of the address (IPv6:
   * /64) with the most unread bytes, the connection that has waited longest is closed
   */
  unsentBytesMax: 134_217_728,
  /**
   * Callers that learn of the stop send nothing; others' requests take some hundred milliseconds.
   * @limit when stopping, an idle connection, for a request that is on its way → closed
   */
  closingGraceMs: 1_000,
  /** @limit when stopping, answers under way → connections closed */
  drainTimeoutMs: 5_000,
};
/**
 * Slow bodies are ended, and credentials of open streams checked, so often: a timer for each
 * request would cost every request.
 */
const SWEEP_INTERVAL_MS = 250;
/**
 * Perhaps a stranger has made the header up.
 * @limit between log lines about requests that name another caller, and come from no trusted proxy
 */
const UNTRUSTED_TOLD_EVERY_MS = 3_600_000;

/** Rejects with a SettingFault for an unusable address or certificate. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const certificate =
    options.tls === null ? null : await Certificate.open(options.tls, options.log);
  const server = new RunningServer(options, certificate);
  await server.listen();
  return server;
}

class RunningServer implements Server, RequestHandler, Desk {
  readonly #options: ServerOptions;
  readonly #parts: ExchangeParts;
  readonly #router: Router<Route>;
  readonly #limits: ServerLimits;
  readonly #certificate: Certificate | null;
  readonly #listener: HttpListener;
  readonly #admission: Admission;
  /** Health checks are answered when all others are refused, and take no room of them. */
  readonly #openAdmission: Admission;
  /** Requests from the head to the answer; aborted ones until their handler ends. */
  #requests = 0;
  /** Conversations whose body did not arrive at once, in the order of their deadlines. */
  readonly #slow = new Set<Conversation>();
  readonly #streams = new OpenStreams();
  readonly #sweep: NodeJS.Timeout;
  readonly #untrusted = new Seldom(UNTRUSTED_TOLD_EVERY_MS);
  readonly #unreadable = new Seldom(UNTRUSTED_TOLD_EVERY_MS);
  #whenIdle: (() => void) | null = null;

  constructor(options: ServerOptions, certificate: Certificate | null) {
    this.#options = options;
    this.#certificate = certificate;
    const { trustedProxies } = options;
    const onUntrusted = (address: string): void => this.#tellUntrusted(address);
    this.#parts = {
      ...options,
      rates: new CallerRates(),
      failureLog: new FailureLog(options.log),
      requestLog: new RequestLog(options.log, options.requestLog),
      requestTraces: options.tracer === null ? null : new RequestTraces(options.tracer),
      cors: createCors(options.corsOrigins),
      isOperator: createTokenCheck(options.operatorToken),
      addressOf: createAddressResolver(trustedProxies, onUntrusted, (address) =>
        this.#tellUnreadable(address),
      ),
      isSecureOf: createSecurityResolver(trustedProxies, certificate !== null, onUntrusted),
    };
    this.#router = new Router(options.routes);
    this.#limits = {
      ...SERVER_LIMITS,
      ...options.limits,
    };
    this.#admission = new Admission(this.#limits);
    this.#openAdmission = new Admission(this.#limits);
    this.#listener = this.#createListener(options);
    this.#sweep = setInterval(() => {
      this.#endSlowBodies();
      this.#streams.check();
    }, SWEEP_INTERVAL_MS);
    this.#sweep.unref();
  }

  async listen(): Promise<void> {
    const { host, port } = this.#options;
    try {
      await this.#listener.listen();
    } catch (error) {
      await this.#stop();
      throw listenFault({ host, port }, error as NodeJS.ErrnoException);
    }
  }

  get port(): number {
    return this.#listener.port;
  }

  get metrics(): readonly Metric[] {
    return [
      ...this.#parts.counts.metrics,
      ...connectionMetrics(this.#listener.crowd),
      frontMetric(this.#options.front),
    ];
  }

  async close(): Promise<void> {
    const endMs = performance.now() + this.#limits.drainTimeoutMs;
    this.#listener.stopAccepting();
    this.#streams.close();
    await this.#listener.releaseIdle(this.#limits.closingGraceMs);
    if (this.#requests > 0) await this.#idle(endMs);
    await this.#listener.close(this.#limits.drainTimeoutMs);
    await this.#stop();
  }

  async reloadCertificate(): Promise<void> {
    await this.#certificate?.reload();
  }

  begin(head: RequestHead, reply: Reply): Receiver | null {
    const exchange = new Exchange(this.#parts, head, this.#router.match(head.method, head.path));
    const begun = exchange.begin();
    if (!('route' in begun)) return this.#answer(reply, exchange, begun);
    const admission = begun.route.api === 'open' ? this.#openAdmission : this.#admission;
    const holder = admission.enter(exchange.holder);
    if (holder === null) return this.#answer(reply, exchange, exchange.overloaded('http'));
    this.#requests += 1;
    return new Conversation({ desk: this, reply, exchange, found: begun, admission, holder });
  }

  refuse({ status, detail }: Malformed, reply: Reply): void {
    const head = { method: '', path: '', query: '', remoteAddress: '', headers: NO_HEADERS };
    const exchange = new Exchange(this.#parts, head, { kind: 'not-found' });
    this.write(reply, exchange, exchange.refuse(status, detail), true);
  }

  get bodyDeadlineMs(): number {
    return performance.now() + this.#limits.bodyTimeoutMs;
  }

  isSlow(conversation: Conversation): void {
    this.#slow.add(conversation);
  }

  isWhole(conversation: Conversation): void {
    this.#slow.delete(conversation);
  }

  left(): void {
    this.#requests -= 1;
    if (this.#requests === 0) this.#whenIdle?.();
  }

  write(reply: Reply, exchange: Exchange, response: HttpResponse, closes: boolean): void {
    const { stream } = response;
    reply.send({
      status: response.status,
      writeFields: (write) => exchange.finish(response, write),
      body: response.body,
      stream: stream === undefined ? undefined : this.#streams.watch(exchange, stream),
      isHead: exchange.isHead,
      closes,
    });
  }

  #createListener({ host, port, connectionsMax, log, front }: ServerOptions): HttpListener {
    const parts = {
      ...{ host, port, connectionsMax, log, ...this.#limits },
      ...{ handler: this, readHeaders: READ_HEADERS, certificate: this.#certificate },
    };
    return front.kind === 'uws' ? new UwsListener(parts, front.binary) : new Listener(parts);
  }

  /** For `begin`: answers, and wants no more of this request. */
  #answer(reply: Reply, exchange: Exchange, response: HttpResponse): null {
    this.write(reply, exchange, response, false);
    return null;
  }

  /** With such a proxy all callers have its address: one of them uses up the share of each. */
  #tellUntrusted(address: string): void {
    const times = this.#untrusted.count();
    if (times === null) return;
    this.#options.log.warn(
      { address, times },
      'requests name another caller in X-Forwarded-For or -Proto, and come from no address in TRUSTED_PROXIES: if this is your proxy, name it there, else all callers behind it count as one',
    );
  }

  /** Its callers all have its address, as if it named none. */
  #tellUnreadable(address: string): void {
    const times = this.#unreadable.count();
    if (times === null) return;
    this.#options.log.warn(
      { address, times },
      'a trusted proxy names callers in X-Forwarded-For by what is no address: all of them count as one',
    );
  }

  #idle(endMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timeout = setTimeout(resolve, endMs - performance.now());
      this.#whenIdle = () => {
        clearTimeout(timeout);
        resolve();
      };
    });
  }

  async #stop(): Promise<void> {
    clearInterval(this.#sweep);
    this.#parts.failureLog.stop();
    await this.#certificate?.stop();
  }

  #endSlowBodies(): void {
    const nowMs = performance.now();
    for (const conversation of this.#slow) {
      if (conversation.deadlineMs > nowMs) return;
      conversation.timeOut();
    }
  }
}
