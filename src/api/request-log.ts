/**
 * The log's line for each answered request (decision 62): no path, where callers write tokens, and
 * no name, which may be an e-mail address.
 */

import type { Logger } from 'pino';
import type { Caller } from '../domain/caller.ts';
import type { Session } from '../domain/session.ts';
import type { Route } from '../http/handler.ts';
import { flatLogger } from '../telemetry/log.ts';

export const REQUEST_LOGS = ['all', 'publishers', 'none'] as const;
export type RequestLogMode = (typeof REQUEST_LOGS)[number];

/** An id that we have given out; whatever else stands in a path is the caller's own. */
const ID = /^(?:\d{1,10}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/i;

/** Devices, balancers and browsers' pages make the others. */
export const isOfPublishers = (route: Route | null): boolean =>
  route !== null && route.api !== 'app' && route.api !== 'open';

export interface AnsweredRequest {
  readonly requestId: string;
  readonly method: string;
  readonly route: Route | null;
  /** The parts of its path that the route names. */
  readonly params: Readonly<Record<string, string>>;
  readonly caller: Caller | null;
  readonly session: Session | null;
  readonly status: number;
  readonly notificationId: string | undefined;
  /** From its head to the beginning of its answer. */
  readonly durationMs: number;
}

export class RequestLog {
  readonly #log: Logger;
  readonly #mode: RequestLogMode;

  constructor(log: Logger, mode: RequestLogMode) {
    this.#log = flatLogger(log);
    this.#mode = log.isLevelEnabled('info') ? mode : 'none';
  }

  /** Whether requests of a route are logged; null: those that match none. */
  takes(route: Route | null): boolean {
    if (this.#mode !== 'publishers') return this.#mode === 'all';
    return isOfPublishers(route);
  }

  tell(request: AnsweredRequest): void {
    const { requestId, method, route, params, caller, session, notificationId } = request;
    const ids = Object.entries(params).filter(([, value]) => ID.test(value));
    this.#log.info(
      {
        requestId,
        method,
        route: route?.path ?? null,
        status: request.status,
        durationMs: Math.round(request.durationMs * 10) / 10,
        ...(caller === null ? {} : idsOf(caller)),
        ...(session === null ? {} : { accountId: session.accountId }),
        ...(ids.length === 0 ? {} : { params: Object.fromEntries(ids) }),
        ...(notificationId === undefined ? {} : { notificationId }),
      },
      'a request was answered',
    );
  }
}

const idsOf = ({ clientId, appId, key }: Caller): object => ({
  clientId,
  ...(appId === null ? {} : { appId }),
  ...(key === undefined || key.id === null ? {} : { keyId: key.id }),
});
