/** The requests and responses of handlers: plain values, so that none knows the server. */

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
  header(name: string): string;
  /** Whether the header was sent, with or without a value. */
  hasHeader(name: string): boolean;
  readonly body: Buffer;
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
  readonly notificationId?: string;
  readonly steps?: readonly Step[];
  /** The limit of its client that the request is refused for. It is counted. */
  readonly beyondLimit?: RefusedLimit;
}

/** A limit of a client, or the one of an app and address. */
type RefusedLimit = ClientLimitName | 'REGISTRATIONS_PER_SECOND_MAX';

export type Api = 'app' | 'notification' | 'admin';

interface RouteShape {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Segments, with `:name` for a parameter: `/push-api/status/:id`. */
  readonly path: string;
  /** Its OpenAPI id; `page`: for browsers, no part of the interface; null: a test's. */
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

/** Called by a client's own systems: its super user, and keys with the right that it needs. */
export interface ClientRoute extends CalledRoute {
  readonly api: Exclude<Api, 'app'>;
  /** The scope of a key; `any-scope`: any key will do; `super-user`: no key is enough. */
  readonly needs: KeyScope | 'any-scope' | 'super-user';
  /** Its result outlives the credential: a super user's in its grace is refused. */
  readonly isForSuccessor?: true;
  /** Whether it counts as a push too; absent: as a request only. */
  readonly rate?: 'pushes';
}

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

/** `cookie`: without the CSRF token, which it gives. `operator`: the operator's accounts. */
interface AccountRoute extends ConsoleRouteShape {
  readonly needs: 'cookie' | 'account' | 'operator';
  handle(request: HttpRequest, session: Session): Promise<HttpResponse> | HttpResponse;
}

interface OwnerRoute extends ConsoleRouteShape {
  readonly needs: 'owner';
  handle(request: HttpRequest, caller: Caller): Promise<HttpResponse> | HttpResponse;
}

/** A route for holders of the operator's token. It is served only where there is one. */
export interface OperatorRoute extends RouteShape {
  readonly api: 'operator';
  handle(request: HttpRequest): Promise<HttpResponse> | HttpResponse;
}

export interface OpenRoute extends RouteShape {
  readonly api: 'open';
  handle(request: HttpRequest): Promise<HttpResponse> | HttpResponse;
}

export type Route = ApiRoute | ConsoleRoute | OperatorRoute | OpenRoute;

/**
 * The App API answers 413 above it, too (internals/interface.md, "App API").
 * @publisherLimit body, every API but the App API → `413`
 */
export const BODY_BYTES_MAX = 1_048_576;
/** @limit body of a request of the console's own API → `413` */
export const CONSOLE_BODY_BYTES_MAX = 16_384;
