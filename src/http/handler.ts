/**
 * The requests and responses of handlers: plain values, so that no handler knows the server
 * underneath.
 */

import type { BodyStream } from '../../packages/http1/src/body-stream.ts';
import type { Caller, KeyScope } from '../domain/caller.ts';
import type { ClientLimitName } from '../domain/client-limits.ts';
import type { Session } from '../domain/session.ts';
import type { Step } from '../std/step.ts';
import type { Operation } from './openapi/operation.ts';

export interface HttpRequest {
  readonly method: string;
  /** Not normalized: percent-encoded, without the query. */
  readonly path: string;
  /** The route's `:name` parts, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The value of a header by its lower-case name, or ''. */
  header(name: string): string;
  /** Whether the header was sent, with or without a value. */
  hasHeader(name: string): boolean;
  readonly body: Buffer;
  /** The caller's address: the one that trusted proxies name, else the connection's. */
  readonly address: string;
  /** Whether the caller's connection is encrypted, up to us or to a trusted proxy. */
  readonly isSecure: boolean;
  readonly requestId: string;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  /** In place of the body, which is empty then. The connection ends with it. */
  readonly stream?: BodyStream;
  /** The push job that it has made, for the log. */
  readonly notificationId?: string;
  /** The steps of the handler's work, for the trace. */
  readonly steps?: readonly Step[];
  /** The limit of its client that the request is refused for. It is counted. */
  readonly beyondLimit?: RefusedLimit;
}

/** A limit of a client, or the one of an app and address. */
type RefusedLimit = ClientLimitName | 'REGISTRATIONS_PER_SECOND_MAX';

/** Which credentials a route takes: see internals/interface.md, "Callers". */
export type Api = 'app' | 'notification' | 'admin';

interface RouteShape {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Segments, with `:name` for a parameter: `/push-api/status/:id`. */
  readonly path: string;
  /**
   * Its id in the OpenAPI document; `page`: what a browser loads, which is no part of the
   * interface; null: a route of a test.
   */
  readonly operation: string | null;
  /** Its part of the document. Absent: `api/openapi/operations.ts` has it by the id. */
  readonly document?: Operation;
  /**
   * The answer to a longer body is 413, before the handler runs.
   * @limit body of a route that takes none, as `/`, `/livez`, `/readyz`, `/metrics` and the `GET`s
   * of push jobs: nothing → `413`
   */
  readonly bodyBytesMax: number;
}

interface CalledRoute extends RouteShape {
  handle(request: HttpRequest, caller: Caller): Promise<HttpResponse> | HttpResponse;
}

interface AppRoute extends CalledRoute {
  readonly api: 'app';
  /** Whether it changes a device, and so counts as a registration; absent: it is a read. */
  readonly rate?: 'registrations';
}

/**
 * A route that a client's own systems call: its super user, and keys with the right that it needs.
 */
export interface ClientRoute extends CalledRoute {
  readonly api: Exclude<Api, 'app'>;
  /**
   * The scope that a key must have; `any-scope`: any key will do; `super-user`: no key is enough.
   */
  readonly needs: KeyScope | 'any-scope' | 'super-user';
  /**
   * Its result outlives the caller's credential, so a super user's that was rotated is refused.
   * Absent: one in its grace may, unless the route needs the super user.
   */
  readonly isForSuccessor?: true;
  /** Whether it counts as a push too; absent: as a request only. */
  readonly rate?: 'pushes';
}

/** A route that only a checked credential reaches. */
export type ApiRoute = AppRoute | ClientRoute;

/** A route of the console's own API: pages of our own origin call it, mostly with a session. */
export type ConsoleRoute = VisitorRoute | AccountRoute | OwnerRoute;

interface ConsoleRouteShape extends RouteShape {
  readonly api: 'console';
}

/** For everybody, without a session. */
interface VisitorRoute extends ConsoleRouteShape {
  readonly needs: 'nobody';
  handle(request: HttpRequest): Promise<HttpResponse> | HttpResponse;
}

/**
 * A route for signed-in accounts. `cookie`: without the CSRF token, which such a route gives.
 * `operator`: for accounts of the operator.
 */
interface AccountRoute extends ConsoleRouteShape {
  readonly needs: 'cookie' | 'account' | 'operator';
  handle(request: HttpRequest, session: Session): Promise<HttpResponse> | HttpResponse;
}

/** For owners of the client that the request names. */
interface OwnerRoute extends ConsoleRouteShape {
  readonly needs: 'owner';
  handle(request: HttpRequest, caller: Caller): Promise<HttpResponse> | HttpResponse;
}

/** A route for holders of the operator's token. It is served only where there is one. */
export interface OperatorRoute extends RouteShape {
  readonly api: 'operator';
  handle(request: HttpRequest): Promise<HttpResponse> | HttpResponse;
}

/** A route for everybody: health, metrics. */
export interface OpenRoute extends RouteShape {
  readonly api: 'open';
  handle(request: HttpRequest): Promise<HttpResponse> | HttpResponse;
}

export type Route = ApiRoute | ConsoleRoute | OperatorRoute | OpenRoute;

/**
 * The limit of bodies on every API but the App API. Above it the App API answers 413, too
 * (internals/interface.md, "App API" and "Errors, limits, versions").
 * @publisherLimit body, every API but the App API → `413`
 */
export const BODY_BYTES_MAX = 1_048_576;
/**
 * Bodies of the console's own API have little to say.
 * @limit body of a request of the console's own API → `413`
 */
export const CONSOLE_BODY_BYTES_MAX = 16_384;
