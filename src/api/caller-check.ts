/** Checks who calls: by credential, session or operator's token, against what the route wants. */

import type { RequestHead } from '../../packages/http1/src/request-head.ts';
import type { KnownSession, Sessions } from '../access/accounts/sessions.ts';
import type { Authentication, Authenticator } from '../access/authenticate.ts';
import type { Failures } from '../access/failures.ts';
import { refuseGuesser } from '../access/routes/refusals.ts';
import type { Caller } from '../domain/caller.ts';
import type { Session } from '../domain/session.ts';
import type { Cors } from '../http/cors.ts';
import type { ApiRoute, ConsoleRoute, HttpResponse, Route } from '../http/handler.ts';
import { mayUse, whyNot } from '../http/permission.ts';
import { isForgeable } from '../http/request-origin.ts';
import { answerRefusal } from '../http/result.ts';
import type { Found, Match } from '../http/router.ts';
import type { CallerRates } from './caller-rates.ts';
import type { Passage, SessionRoute } from './session-gate.ts';
import { passOf, passOfVisitor, presentedSession } from './session-gate.ts';
import { refuseTooOften } from './too-often.ts';

export interface CallerCheckParts {
  readonly authenticator: Pick<Authenticator, 'authenticate' | 'recall'>;
  readonly sessions: Pick<Sessions, 'authenticate' | 'recall' | 'isCsrfToken'>;
  /** Whether an Authorization header has the operator's token. */
  readonly isOperator: (authorization: string) => boolean;
  readonly failures: Failures;
  readonly rates: CallerRates;
  readonly cors: Pick<Cors, 'names'>;
}

export interface CheckedRequest {
  readonly requestId: string;
  readonly address: string;
  readonly isSecure: boolean;
  refuse(status: number, detail: string, headers?: Headers): HttpResponse;
  failed(route: Route, error: unknown): HttpResponse;
}

type Headers = Readonly<Record<string, string>>;
/** Null: the request is not refused. */
export type Refusal = HttpResponse | null;

/** RFC 9110, section 11.6.1: one challenge for each scheme. */
const CHALLENGES: Headers = { 'WWW-Authenticate': 'Bearer realm="tagcast", Basic realm="tagcast"' };
/** No Basic: a browser would ask for its password in a window of its own. */
const SESSION_CHALLENGE: Headers = { 'WWW-Authenticate': 'Session realm="tagcast"' };

/** A browser adds a password that it remembers, whichever page makes it ask. */
const FORGEABLE =
  'A page of another site has made this request, and its password may be one that the browser remembers. Send a Bearer token, or JSON with Content-Type: application/json; or the operator names the origin in CORS_ORIGINS.';

export class CallerCheck {
  readonly #parts: CallerCheckParts;
  readonly #request: CheckedRequest;
  readonly #head: RequestHead;
  /** The token of the session by which the request is judged; null: by its credential. */
  readonly #sessionToken: string | null;
  #session: Session | null = null;
  #caller: Caller | null = null;
  #isAdmitted = false;
  #isCounted = false;

  constructor(
    parts: CallerCheckParts,
    request: CheckedRequest,
    head: RequestHead,
    match: Match<Route>,
  ) {
    this.#parts = parts;
    this.#request = request;
    this.#head = head;
    this.#sessionToken =
      match.kind === 'found' ? presentedSession(match.route, head, () => request.isSecure) : null;
  }

  /** Null: not known yet, or the route needs none. */
  get caller(): Caller | null {
    return this.#caller;
  }

  /** Null: not known yet, or the request is not judged by one. */
  get session(): Session | null {
    return this.#session;
  }

  /** Whether the request is judged by a session, known or not. */
  get isBySession(): boolean {
    return this.#sessionToken !== null;
  }

  /** Whether the credential, session or token of the request was found good. */
  get isAdmitted(): boolean {
    return this.#isAdmitted;
  }

  /** The refusal that follows from what is in memory of the credential or session. */
  recall({ route, params }: Found<Route>): Refusal {
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
  admit({ route, params }: Found<Route>): Refusal | Promise<Refusal> {
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

  #known<T>(
    route: Route,
    answer: T | Promise<T>,
    judge: (known: T) => Refusal,
  ): Refusal | Promise<Refusal> {
    return answer instanceof Promise
      ? answer.then(judge, (error: unknown) => this.#request.failed(route, error))
      : judge(answer);
  }

  #judgeSession(
    route: SessionRoute,
    params: Readonly<Record<string, string>>,
    token: string,
    known: KnownSession,
  ): Refusal {
    if (known === 'ended') {
      return this.#request.refuse(401, 'This session has ended: sign in again.', SESSION_CHALLENGE);
    }
    this.#session = known;
    const csrfToken = this.#head.headers.get('x-csrf-token');
    const hasCsrfToken = this.#parts.sessions.isCsrfToken(token, csrfToken);
    const refusal = this.#pass(passOf(route, params, this.#head, known, hasCsrfToken));
    // Without a caller the request concerns no client, and so no limit of one.
    if (refusal !== null || this.#caller === null) return refusal;
    return this.#tooOften(route, this.#caller);
  }

  #judgeVisitor({ needs }: ConsoleRoute): Refusal {
    if (needs === 'nobody') return this.#pass(passOfVisitor(this.#head));
    return this.#request.refuse(
      401,
      'This path needs a session: sign in first.',
      SESSION_CHALLENGE,
    );
  }

  #judgeOperator(): Refusal {
    const header = this.#head.headers.get('authorization');
    if (header === '') return this.#unauthenticated('missing');
    if (!this.#parts.isOperator(header)) return this.#unauthenticated('wrong');
    this.#isAdmitted = true;
    return null;
  }

  #pass(passage: Passage): Refusal {
    if (!passage.isOpen) return this.#request.refuse(passage.status, passage.why);
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
    const { method } = authentication;
    if (method === 'basic' && isForgeable(this.#head, route, this.#parts.cors)) {
      return this.#request.refuse(403, FORGEABLE);
    }
    this.#isAdmitted = true;
    return this.#forbidden(route, params, authentication) ?? this.#tooOften(route, authentication);
  }

  /** A request counts once, however often its credential is checked. */
  #tooOften(route: SessionRoute, caller: Caller): Refusal {
    if (this.#isCounted) return null;
    this.#isCounted = true;
    return refuseTooOften(this.#parts.rates, route, caller, this.#request.requestId);
  }

  #unauthenticated(reason: Exclude<Authentication, Caller>): HttpResponse {
    switch (reason) {
      case 'missing':
        return this.#request.refuse(
          401,
          'This path needs a credential: Bearer or Basic.',
          CHALLENGES,
        );
      case 'disabled':
        return this.#request.refuse(403, 'This client is disabled.');
      case 'wrong': {
        const refusal = refuseGuesser(this.#parts.failures, this.#request, 'credential');
        return refusal === null
          ? this.#request.refuse(401, 'There is no such credential.', CHALLENGES)
          : answerRefusal(this.#request, refusal);
      }
    }
  }

  /** A client in the path must be the caller's own; nothing reveals whether others exist. */
  #forbidden(route: ApiRoute, params: Readonly<Record<string, string>>, caller: Caller): Refusal {
    if (!mayUse(route, caller)) {
      return this.#request.refuse(403, whyNot(route, caller));
    }
    const client = params['client'];
    return client === undefined || client === caller.clientSlug
      ? null
      : this.#request.refuse(403, 'This credential belongs to another client.');
  }
}
