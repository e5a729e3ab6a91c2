/**
 * One request from its head to its answer: `begin` decides by the head, `run` handles the body, and
 * `finish` adds the headers that every answer carries.
 */

import type { KnownSession, Session, Sessions } from '../access/accounts/sessions.ts';
import type { Authentication, Authenticator } from '../access/authenticate.ts';
import type { Caller } from '../access/caller.ts';
import type { CallerRates } from '../access/caller-rates.ts';
import type { Failures } from '../access/failures.ts';
import { networkOf } from '../std/ip-address.ts';
import { faultOf } from '../store/faults.ts';
import type { FailureLog } from '../telemetry/failure-log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { refuseTooOften } from './beyond-limit.ts';
import type { AddressResolver, SecurityResolver } from './client-address.ts';
import type { Cors } from './cors.ts';
import type { WriteField } from './front/front.ts';
import type { ApiRoute, ConsoleRoute, HttpRequest, HttpResponse, Route } from './handler.ts';
import { mayUse, tellsDeprecation, whyNot } from './permission.ts';
import { problem } from './problem.ts';
import { Request } from './request.ts';
import type { RequestHead } from './request-head.ts';
import { requestIdOf } from './request-id.ts';
import type { Found, Match } from './router.ts';
import type { Passage, SessionRoute } from './session-gate.ts';
import { passOf, passOfVisitor, presentedSession } from './session-gate.ts';

/** The objects that all exchanges share. */
export interface ExchangeParts {
  readonly authenticator: Pick<Authenticator, 'authenticate' | 'recall'>;
  readonly sessions: Pick<Sessions, 'authenticate' | 'recall' | 'isCsrfToken'>;
  /** Whether an Authorization header has the operator's token. */
  readonly isOperator: (authorization: string) => boolean;
  readonly failures: Failures;
  readonly rates: CallerRates;
  readonly cors: Cors;
  readonly addressOf: AddressResolver;
  readonly isSecureOf: SecurityResolver;
  readonly metrics: Metrics;
  readonly failureLog: FailureLog;
}

type Headers = Readonly<Record<string, string>>;
/** Null: the request is not refused. */
type Refusal = HttpResponse | null;

function writeAll(headers: Headers, write: WriteField): void {
  for (const name of Object.keys(headers)) write(name, headers[name] ?? '');
}

/** RFC 9110, section 11.6.1: one challenge for each scheme. */
const CHALLENGES: Headers = { 'WWW-Authenticate': 'Bearer realm="tagcast", Basic realm="tagcast"' };
/** No Basic: a browser would ask for its password in a window of its own. */
const SESSION_CHALLENGE: Headers = { 'WWW-Authenticate': 'Session realm="tagcast"' };
/** An answer to a session is for its browser only, which asks again each time. */
const PRIVATE: Headers = { 'Cache-Control': 'private, no-cache' };
/** Accounts, links, credentials, the state of the installation: no cache may keep them. */
const UNKEPT: Headers = { 'Cache-Control': 'no-store' };
/** What is below is for pages of our own origin. */
const CONSOLE = '/console/';
/**
 * RFC 9745. Basic is deprecated since 2025-01-01T00:00:00Z, with the version of the interface that
 * has API keys.
 */
const BASIC_DEPRECATED: Headers = { Deprecation: '@1735689600' };
/** A store that failed is back within seconds, or the node is replaced. */
const RETRY_AFTER_SECONDS = '2';
/**
 * The route label of requests that match no route: with their path, every guess would make a
 * series.
 */
const UNMATCHED = 'unmatched';

export class Exchange {
  readonly requestId: string;
  readonly #parts: ExchangeParts;
  readonly #head: RequestHead;
  readonly #match: Match<Route>;
  #address: string | null = null;
  #isSecure: boolean | null = null;
  /** Of the session by which the request is judged; null: by its credential. */
  readonly #sessionToken: string | null;
  #session: Session | null = null;
  #caller: Caller | null = null;
  #isAdmitted = false;
  #asked: Promise<Refusal> | null = null;
  #isLate = false;
  #isCounted = false;

  constructor(parts: ExchangeParts, head: RequestHead, match: Match<Route>) {
    this.#parts = parts;
    this.#head = head;
    this.#match = match;
    this.requestId = requestIdOf(head.headers.get('x-request-id'));
    this.#sessionToken =
      match.kind === 'found' ? presentedSession(match.route, head, () => this.isSecure) : null;
  }

  get isHead(): boolean {
    return this.#head.method === 'HEAD';
  }

  /** The caller's address, behind trusted proxies the one they name. */
  get address(): string {
    this.#address ??= this.#parts.addressOf(
      this.#head.remoteAddress,
      this.#head.headers.get('x-forwarded-for'),
    );
    return this.#address;
  }

  /** Whether the caller's connection is encrypted, up to us or to a trusted proxy. */
  get isSecure(): boolean {
    this.#isSecure ??= this.#parts.isSecureOf(
      this.#head.remoteAddress,
      this.#head.headers.get('x-forwarded-proto'),
    );
    return this.#isSecure;
  }

  /**
   * The caller in whose share of the server this request and its body count. For a publisher whose
   * credential is known, it is the client, from any address; otherwise the network of the address.
   * An app's credential is public, so it has no share of its own.
   */
  get holder(): string {
    return this.#caller !== null && this.#caller.role !== 'api-user'
      ? `client ${this.#caller.clientId}`
      : networkOf(this.address);
  }

  /** Decides by the head alone: returns an answer, or the route that gets the body. */
  begin(): HttpResponse | Found<Route> {
    const match = this.#match;
    switch (match.kind) {
      case 'not-found':
        return this.refuse(404, 'There is nothing at this path.');
      case 'bad-encoding':
        return this.refuse(400, 'The path contains a % that is not a percent-encoding.');
      case 'method-not-allowed':
        return this.#otherMethod(match.allow);
      case 'found': {
        const length = Number(this.#head.headers.get('content-length'));
        if (length > match.route.bodyBytesMax) return this.tooLarge(match.route);
        return this.#recall(match) ?? match;
      }
    }
  }

  /**
   * Asks the store about a credential that is not in memory. Null: it is, or the route needs none.
   */
  ask(found: Found<Route>): Promise<Refusal> | null {
    if (found.route.api === 'open' || this.#isAdmitted) return null;
    this.#asked = Promise.resolve(this.#admit(found)).finally(() => {
      this.#asked = null;
    });
    return this.#asked;
  }

  /** The answer of the store that is still awaited; null: none is. */
  get asked(): Promise<Refusal> | null {
    return this.#asked;
  }

  /**
   * The body did not arrive with the head. The credential may be revoked before it is complete, so
   * it is checked again.
   */
  bodyIsLate(): void {
    this.#isLate = true;
  }

  /**
   * Completes the checks, handles the request, and passes the answer to `settle`, at once if
   * nothing has to be awaited. An unexpected error is logged and answered 500; a failure of the
   * database, 503.
   */
  run(found: Found<Route>, body: Buffer, settle: (response: HttpResponse) => void): void {
    let response: HttpResponse | Promise<HttpResponse>;
    try {
      response = this.#handle(found, body);
    } catch (error) {
      response = this.#failed(found.route, error);
    }
    if (response instanceof Promise) {
      // An error while the answer is written is a bug in the program and ends it.
      void response.then(settle, (error: unknown) => settle(this.#failed(found.route, error)));
    } else settle(response);
  }

  /** Whether its caller would still be admitted. A store that cannot be asked refuses nobody. */
  async mayGoOn(): Promise<boolean> {
    if (this.#match.kind !== 'found') return true;
    const refusal = await this.#admit(this.#match);
    return refusal === null || refusal.status >= 500;
  }

  /** A problem answer. */
  refuse(status: number, detail: string, headers: Headers = {}): HttpResponse {
    return problem(this.requestId, status, detail, { headers });
  }

  /** The refusal of a body above the route's limit. */
  tooLarge(route: Route): HttpResponse {
    return this.refuse(413, `The body may have ${route.bodyBytesMax} bytes at most.`);
  }

  /** The refusal of an overloaded server. */
  overloaded(part: string): HttpResponse {
    this.#parts.metrics.overloads.with({ part }).value += 1;
    return this.refuse(503, 'Too many requests are under way.', {
      'Retry-After': RETRY_AFTER_SECONDS,
    });
  }

  /**
   * Counts the answer, and gives its headers to `write`: its own, and those that every answer
   * carries.
   */
  finish({ status, headers = {}, beyondLimit }: HttpResponse, write: WriteField): void {
    const route = this.#match.kind === 'found' ? this.#match.route : null;
    this.#count(route, status);
    if (beyondLimit !== undefined) {
      this.#parts.metrics.limitRefusals.with({ limit: beyondLimit }).value += 1;
    }
    writeAll(headers, write);
    const isUnkept = route?.api === 'console' || route?.api === 'operator';
    if (headers['Cache-Control'] === undefined) {
      if (isUnkept) writeAll(UNKEPT, write);
      else if (this.#sessionToken !== null) writeAll(PRIVATE, write);
    }
    if (this.#sessionToken === null && !isUnkept && route?.api !== 'open' && !this.#isOfConsole) {
      writeAll(this.#parts.cors.headersFor(this.#head.headers.get('origin')), write);
    }
    if (route !== null && this.#isDeprecated(route)) writeAll(BASIC_DEPRECATED, write);
    write('X-Request-Id', this.requestId);
  }

  #count(route: Route | null, status: number): void {
    this.#parts.metrics.httpRequests.with({
      method: route === null ? UNMATCHED : this.#head.method,
      route: route?.path ?? UNMATCHED,
      status: String(status),
    }).value += 1;
  }

  /** Pages of other origins have nothing to do there. */
  get #isOfConsole(): boolean {
    return this.#head.path.startsWith(CONSOLE);
  }

  #isDeprecated({ api }: Route): boolean {
    if (this.#caller?.method !== 'basic') return false;
    return (api === 'notification' || api === 'admin') && tellsDeprecation(api);
  }

  /**
   * OPTIONS is open to everybody and never authenticated: a browser's preflight carries no
   * credential (Fetch, 4.8).
   */
  #otherMethod(allow: readonly string[]): HttpResponse {
    const headers = { Allow: [...allow, 'OPTIONS'].join(', ') };
    if (this.#head.method !== 'OPTIONS') {
      return this.refuse(405, 'This path does not support this method.', headers);
    }
    if (this.#isOfConsole) return { status: 204, headers, body: '' };
    const origin = this.#head.headers.get('origin');
    const asked = this.#head.headers.get('access-control-request-headers');
    const cors = this.#parts.cors.preflightHeaders(origin, allow, asked);
    return { status: 204, headers: { ...headers, ...cors }, body: '' };
  }

  #handle(found: Found<Route>, body: Buffer): HttpResponse | Promise<HttpResponse> {
    const refusal = this.#asked ?? (this.#isLate ? this.#admit(found) : null);
    return refusal instanceof Promise
      ? refusal.then((refused) => refused ?? this.#serve(found, body))
      : (refusal ?? this.#serve(found, body));
  }

  #serve({ route, params }: Found<Route>, body: Buffer): HttpResponse | Promise<HttpResponse> {
    const { address, isSecure, requestId } = this;
    const request = new Request(this.#head, params, { address, isSecure, requestId, body });
    if (route.api === 'open' || route.api === 'operator') return route.handle(request);
    if (route.api === 'console') return this.#serveConsole(route, request);
    if (this.#caller === null) throw new Error(`${route.path} is served to nobody`);
    return route.handle(request, this.#caller);
  }

  #serveConsole(route: ConsoleRoute, request: HttpRequest): HttpResponse | Promise<HttpResponse> {
    if (route.needs === 'nobody') return route.handle(request);
    if (route.needs === 'owner') {
      if (this.#caller === null) throw new Error(`${route.path} is served to no owner`);
      return route.handle(request, this.#caller);
    }
    if (this.#session === null) throw new Error(`${route.path} is served without a session`);
    return route.handle(request, this.#session);
  }

  /** The refusal that follows from what is in memory of the credential or session. */
  #recall({ route, params }: Found<Route>): Refusal {
    if (route.api === 'open') return null;
    if (route.api === 'operator') return this.#judgeOperator();
    const token = this.#sessionToken;
    if (token !== null) {
      const known = this.#parts.sessions.recall(token);
      return known === null ? null : this.#judgeSession(route, params, token, known);
    }
    if (route.api === 'console') return this.#judgeVisitor(route);
    const known = this.#parts.authenticator.recall(this.#head.headers.get('authorization'));
    return known === null ? null : this.#judge(route, params, known);
  }

  /** Checks whether the credential or session is good for this route. */
  #admit({ route, params }: Found<Route>): Refusal | Promise<Refusal> {
    if (route.api === 'open') return null;
    if (route.api === 'operator') return this.#judgeOperator();
    const { authenticator, sessions } = this.#parts;
    const token = this.#sessionToken;
    if (token !== null) {
      return this.#known(route, sessions.authenticate(token), (known) =>
        this.#judgeSession(route, params, token, known),
      );
    }
    if (route.api === 'console') return this.#judgeVisitor(route);
    const header = this.#head.headers.get('authorization');
    return this.#known(route, authenticator.authenticate(header), (known) =>
      this.#judge(route, params, known),
    );
  }

  /** Judges at once what is known at once. */
  #known<T>(
    route: Route,
    answer: T | Promise<T>,
    judge: (known: T) => Refusal,
  ): Refusal | Promise<Refusal> {
    return answer instanceof Promise
      ? answer.then(judge, (error: unknown) => this.#failed(route, error))
      : judge(answer);
  }

  #judgeSession(
    route: SessionRoute,
    params: Readonly<Record<string, string>>,
    token: string,
    known: KnownSession,
  ): Refusal {
    if (known === 'ended') {
      return this.refuse(401, 'This session has ended: sign in again.', SESSION_CHALLENGE);
    }
    this.#session = known;
    const csrfToken = this.#head.headers.get('x-csrf-token');
    const hasCsrfToken = this.#parts.sessions.isCsrfToken(token, csrfToken);
    const refusal = this.#pass(passOf(route, params, this.#head, known, hasCsrfToken));
    if (refusal !== null || route.api === 'console' || this.#caller === null) return refusal;
    return this.#tooOften(route, this.#caller);
  }

  #judgeVisitor({ needs }: ConsoleRoute): Refusal {
    if (needs === 'nobody') return this.#pass(passOfVisitor(this.#head));
    return this.refuse(401, 'This path needs a session: sign in first.', SESSION_CHALLENGE);
  }

  #judgeOperator(): Refusal {
    const header = this.#head.headers.get('authorization');
    if (header === '') return this.#unauthenticated('missing');
    if (!this.#parts.isOperator(header)) return this.#unauthenticated('wrong');
    this.#isAdmitted = true;
    return null;
  }

  #pass(passage: Passage): Refusal {
    if (!passage.isOpen) return this.refuse(passage.status, passage.why);
    this.#caller = passage.caller;
    this.#isAdmitted = true;
    return null;
  }

  #judge(
    route: ApiRoute,
    params: Readonly<Record<string, string>>,
    authentication: Authentication,
  ): Refusal {
    if (typeof authentication === 'string') return this.#unauthenticated(authentication);
    this.#caller = authentication;
    this.#isAdmitted = true;
    return this.#forbidden(route, params, authentication) ?? this.#tooOften(route, authentication);
  }

  /** A request counts once, however often its credential is checked. */
  #tooOften(route: ApiRoute, caller: Caller): Refusal {
    if (this.#isCounted) return null;
    this.#isCounted = true;
    return refuseTooOften(this.#parts.rates, route, caller, this.requestId);
  }

  #unauthenticated(reason: Exclude<Authentication, Caller>): HttpResponse {
    switch (reason) {
      case 'missing':
        return this.refuse(401, 'This path needs a credential: Bearer or Basic.', CHALLENGES);
      case 'disabled':
        return this.refuse(403, 'This client is disabled.');
      case 'wrong': {
        const retryAfterMs = this.#parts.failures.noteAndAskRetryAfterMs(this.address);
        return retryAfterMs === 0
          ? this.refuse(401, 'There is no such credential.', CHALLENGES)
          : this.refuse(429, 'Too many wrong credentials came from this address.', {
              'Retry-After': String(Math.ceil(retryAfterMs / 1_000)),
            });
      }
    }
  }

  /**
   * A client in the path must be the caller's own. The refusal does not tell whether another
   * exists.
   */
  #forbidden(route: ApiRoute, params: Readonly<Record<string, string>>, caller: Caller): Refusal {
    if (!mayUse(route, caller)) {
      return this.refuse(403, whyNot(route, caller));
    }
    const client = params['client'];
    return client === undefined || client === caller.clientSlug
      ? null
      : this.refuse(403, 'This credential belongs to another client.');
  }

  #failed(route: Route, error: unknown): HttpResponse {
    const { failureLog } = this.#parts;
    const failure = { error, context: { requestId: this.requestId, route: route.path } };
    const fault = faultOf(error);
    if (fault === 'unavailable' || fault === 'conflict') {
      failureLog.tell({
        ...failure,
        level: 'warn',
        sentence: 'the database could not serve a request',
      });
      return this.refuse(503, 'The service cannot do this at the moment. Try again.', {
        'Retry-After': RETRY_AFTER_SECONDS,
      });
    }
    failureLog.tell({ ...failure, level: 'error', sentence: 'a request failed' });
    return this.refuse(500, 'The service failed. Its log says why.');
  }
}
