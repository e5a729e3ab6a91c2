/** One request: `begin` decides by the head, `run` handles the body, `finish` adds the headers. */

import type { WriteField } from '../../packages/http1/src/front.ts';
import type { RequestHead } from '../../packages/http1/src/request-head.ts';
import { networkOf } from '../../packages/std/src/ip-address.ts';
import { faultOf } from '../database/faults.ts';
import type { AddressResolver, SecurityResolver } from '../http/client-address.ts';
import { compressionOf } from '../http/compressed-body.ts';
import type { Cors } from '../http/cors.ts';
import type { ConsoleRoute, HttpRequest, HttpResponse, Route } from '../http/handler.ts';
import { tellsDeprecation } from '../http/permission.ts';
import { problem } from '../http/problem.ts';
import { Request } from '../http/request.ts';
import { requestIdOf } from '../http/request-id.ts';
import type { Found, Match } from '../http/router.ts';
import type { FailureLog } from '../telemetry/failure-log.ts';
import type { CallerCheckParts, CheckedRequest, Refusal } from './caller-check.ts';
import { CallerCheck } from './caller-check.ts';
import type { RequestCounts } from './metrics.ts';
import type { RequestLog } from './request-log.ts';
import type { RequestTraces } from './request-traces.ts';

export interface ExchangeParts extends CallerCheckParts {
  readonly cors: Cors;
  readonly addressOf: AddressResolver;
  readonly isSecureOf: SecurityResolver;
  readonly counts: RequestCounts;
  readonly failureLog: FailureLog;
  readonly requestLog: RequestLog;
  /** Null: nothing is traced. */
  readonly requestTraces: RequestTraces | null;
}

type Headers = Readonly<Record<string, string>>;

function writeAll(headers: Headers, write: WriteField): void {
  for (const name in headers) write(name, headers[name] ?? '');
}

/** An answer to a session is for its browser only, which asks again each time. */
const PRIVATE: Headers = { 'Cache-Control': 'private, no-cache' };
/** Accounts, links, credentials, the state of the installation: no cache may keep them. */
const UNKEPT: Headers = { 'Cache-Control': 'no-store' };
/** Paths below it are for pages of our own origin. */
const CONSOLE = '/console/';
/** RFC 9745: since 2025-01-01T00:00:00Z, when the interface got API keys. */
const BASIC_DEPRECATED: Headers = { Deprecation: '@1735689600' };
/** A store that failed is back within seconds, or the node is replaced. */
const RETRY_AFTER_SECONDS = '2';
/** For requests without a route: with their paths every guess would make a series. */
const UNMATCHED = 'unmatched';

export class Exchange implements CheckedRequest {
  readonly requestId: string;
  readonly #parts: ExchangeParts;
  readonly #head: RequestHead;
  readonly #match: Match<Route>;
  #address: string | null = null;
  #isSecure: boolean | null = null;
  readonly #check: CallerCheck;
  #asked: Promise<Refusal> | null = null;
  #isLate = false;
  /** Milliseconds; null: the request is neither logged nor traced. */
  readonly #startedMs: number | null;

  constructor(parts: ExchangeParts, head: RequestHead, match: Match<Route>) {
    this.#parts = parts;
    this.#head = head;
    this.#match = match;
    this.requestId = requestIdOf(head.headers.get('x-request-id'));
    this.#check = new CallerCheck(parts, this, head, match);
    this.#startedMs = this.#isLogged || this.#isTraced ? performance.now() : null;
  }

  get isHead(): boolean {
    return this.#head.method === 'HEAD';
  }

  get address(): string {
    this.#address ??= this.#parts.addressOf(
      this.#head.remoteAddress,
      this.#head.headers.get('x-forwarded-for'),
    );
    return this.#address;
  }

  get isSecure(): boolean {
    this.#isSecure ??= this.#parts.isSecureOf(
      this.#head.remoteAddress,
      this.#head.headers.get('x-forwarded-proto'),
    );
    return this.#isSecure;
  }

  /**
   * A known publisher counts as its client, from any address; all else as the network of its
   * address: an app's credential is public.
   */
  get holder(): string {
    const { caller } = this.#check;
    return caller !== null && caller.role !== 'api-user'
      ? `client ${caller.clientId}`
      : networkOf(this.address);
  }

  /** Decides by the head alone: returns an answer, or the route that gets the body. */
  begin(): HttpResponse | Found<Route> {
    const match = this.#match;
    switch (match.kind) {
      case 'not-found':
        return this.refuse(
          404,
          match.meant === undefined
            ? 'There is nothing at this path.'
            : `There is nothing at this path; ${match.meant} may be meant.`,
        );
      case 'bad-encoding':
        return this.refuse(400, 'The path contains a % that is not a percent-encoding.');
      case 'method-not-allowed':
        return this.#otherMethod(match.allow);
      case 'found': {
        const length = Number(this.#head.headers.get('content-length'));
        if (length > match.route.bodyBytesMax) return this.tooLarge(match.route);
        return this.#check.recall(match) ?? match;
      }
    }
  }

  /** Asks the store about a credential that is not in memory. Null: it is, or none is needed. */
  ask(found: Found<Route>): Promise<Refusal> | null {
    if (found.route.api === 'open' || this.#check.isAdmitted) return null;
    this.#asked = Promise.resolve(this.#check.admit(found)).finally(() => {
      this.#asked = null;
    });
    return this.#asked;
  }

  /** The answer of the store that is still awaited; null: none is. */
  get asked(): Promise<Refusal> | null {
    return this.#asked;
  }

  /** The credential may be revoked before the body is complete, so it is checked again. */
  bodyIsLate(): void {
    this.#isLate = true;
  }

  /**
   * Passes the answer to `settle`, at once if nothing has to be awaited. An unexpected error is
   * logged and answered 500; a failure of the database, 503.
   */
  run(found: Found<Route>, body: Buffer, settle: (response: HttpResponse) => void): void {
    let response: HttpResponse | Promise<HttpResponse>;
    try {
      response = this.#handle(found, body);
    } catch (error) {
      response = this.failed(found.route, error);
    }
    if (response instanceof Promise) {
      // An error while the answer is written is a bug in the program and ends it.
      void response.then(settle, (error: unknown) => settle(this.failed(found.route, error)));
    } else settle(response);
  }

  /** Whether its caller would still be admitted; true if the store cannot be asked. */
  async mayGoOn(): Promise<boolean> {
    if (this.#match.kind !== 'found') return true;
    const refusal = await this.#check.admit(this.#match);
    return refusal === null || refusal.status >= 500;
  }

  refuse(status: number, detail: string, headers: Headers = {}): HttpResponse {
    return problem(this.requestId, status, detail, { headers });
  }

  /** The refusal of a body above the route's limit. */
  tooLarge(route: Route): HttpResponse {
    return this.refuse(413, `The body may have ${route.bodyBytesMax} bytes at most.`);
  }

  overloaded(part: string): HttpResponse {
    this.#parts.counts.overloads.with({ part }).value += 1;
    return this.refuse(503, 'Too many requests are under way.', {
      'Retry-After': RETRY_AFTER_SECONDS,
    });
  }

  /** Counts and logs the answer, and gives its headers to `write`, with those of every answer. */
  finish(response: HttpResponse, write: WriteField): void {
    const { status, headers = {}, beyondLimit } = response;
    const route = this.#route;
    this.#count(route, status);
    if (this.#startedMs !== null) this.#tell(response, this.#startedMs);
    if (beyondLimit !== undefined) {
      this.#parts.counts.limitRefusals.with({ limit: beyondLimit }).value += 1;
    }
    writeAll(headers, write);
    const isUnkept = route?.api === 'console' || route?.api === 'operator';
    if (headers['Cache-Control'] === undefined) {
      if (isUnkept) writeAll(UNKEPT, write);
      else if (this.#check.isBySession) writeAll(PRIVATE, write);
    }
    if (!this.#check.isBySession && !isUnkept && route?.api !== 'open' && !this.#isOfConsole) {
      writeAll(this.#parts.cors.headersFor(this.#head.headers.get('origin')), write);
    }
    if (route !== null && this.#isDeprecated(route)) writeAll(BASIC_DEPRECATED, write);
    write('X-Request-Id', this.requestId);
  }

  get #route(): Route | null {
    return this.#match.kind === 'found' ? this.#match.route : null;
  }

  get #isLogged(): boolean {
    return this.#parts.requestLog.takes(this.#route);
  }

  get #isTraced(): boolean {
    return this.#parts.requestTraces?.takes(this.#route) ?? false;
  }

  #tell({ status, notificationId, steps = [] }: HttpResponse, startedMs: number): void {
    const { caller, session } = this.#check;
    const answered = {
      requestId: this.requestId,
      method: this.#head.method,
      route: this.#route,
      params: this.#match.kind === 'found' ? this.#match.params : {},
      caller,
      session,
      status,
      notificationId,
      durationMs: performance.now() - startedMs,
    };
    if (this.#isLogged) this.#parts.requestLog.tell(answered);
    if (this.#isTraced) {
      const traceparent = this.#head.headers.get('traceparent');
      this.#parts.requestTraces?.tell({ ...answered, traceparent, steps });
    }
  }

  #count(route: Route | null, status: number): void {
    this.#parts.counts.requests.with({
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
    if (this.#check.caller?.method !== 'basic') return false;
    return (api === 'notification' || api === 'admin') && tellsDeprecation(api);
  }

  /** Open to everybody: a browser's preflight carries no credential (Fetch, 4.8). */
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
    const refusal = this.#asked ?? (this.#isLate ? this.#check.admit(found) : null);
    return refusal instanceof Promise
      ? refusal.then((refused) => refused ?? this.#serve(found, body))
      : (refusal ?? this.#serve(found, body));
  }

  #serve({ route, params }: Found<Route>, body: Buffer): HttpResponse | Promise<HttpResponse> {
    const { address, isSecure, requestId } = this;
    const compression = compressionOf(this.#head.headers.get('content-encoding'), body);
    // The App API answers in its own way.
    if (compression !== null && route.api !== 'app') {
      return this.refuse(400, `The body is compressed (${compression}); send it as it is.`);
    }
    const request = new Request(this.#head, params, { address, isSecure, requestId, body });
    if (route.api === 'open' || route.api === 'operator') return route.handle(request);
    if (route.api === 'console') return this.#serveConsole(route, request);
    const { caller } = this.#check;
    if (caller === null) throw new Error(`${route.path} is served to nobody`);
    return route.handle(request, caller);
  }

  #serveConsole(route: ConsoleRoute, request: HttpRequest): HttpResponse | Promise<HttpResponse> {
    const { caller, session } = this.#check;
    if (route.needs === 'nobody') return route.handle(request);
    if (route.needs === 'owner') {
      if (caller === null) throw new Error(`${route.path} is served to no owner`);
      return route.handle(request, caller);
    }
    if (session === null) throw new Error(`${route.path} is served without a session`);
    return route.handle(request, session);
  }

  /** The answer to an unexpected error, which is logged: 500; of a database that failed, 503. */
  failed(route: Route, error: unknown): HttpResponse {
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
