/**
 * Answers the operator's routes to callers that need no token: a command, by the engine's socket or
 * in its own process. It knows no limits: the caller is the operator.
 */

import type { HttpRequest, HttpResponse, OperatorRoute, Route } from '../http/handler.ts';
import { problem } from '../http/problem.ts';
import { requestIdOf } from '../http/request-id.ts';
import { Router } from '../http/router.ts';

interface Asked {
  readonly method: string;
  /** The path with its query. */
  readonly target: string;
  readonly body: Buffer;
}

export class OperatorDoor {
  readonly #router: Router<Route>;

  constructor(routes: readonly Route[]) {
    this.#router = new Router(routes);
  }

  /** Rejects with what a handler throws. */
  async answer({ method, target, body }: Asked): Promise<HttpResponse> {
    const { pathname, searchParams } = new URL(target, 'http://engine');
    const requestId = requestIdOf('');
    const match = this.#router.match(method, pathname);
    if (match.kind !== 'found')
      return problem(requestId, 404, `There is no ${method} ${pathname}.`);
    if (body.length > match.route.bodyBytesMax) {
      const detail = `The body may have ${match.route.bodyBytesMax} bytes.`;
      return problem(requestId, 413, detail);
    }
    const request: HttpRequest = {
      ...{ method, path: pathname, params: match.params, query: searchParams, body, requestId },
      header: () => '',
      hasHeader: () => false,
      address: '',
      isSecure: true,
    };
    // The operator's routes take no caller.
    return await (match.route as OperatorRoute).handle(request);
  }
}

/** A `fetch` that asks in this process. */
export const fetchWithin = (routes: readonly Route[]): typeof fetch => {
  const door = new OperatorDoor(routes);
  return async (input, init) => {
    const { pathname, search } = new URL(String(input));
    const { method = 'GET', body } = init ?? {};
    const asked = { method, target: pathname + search, body: Buffer.from(String(body ?? '')) };
    const { status, headers = {}, body: answer } = await door.answer(asked);
    return new Response(answer.length === 0 ? null : new Uint8Array(Buffer.from(answer)), {
      status,
      headers,
    });
  };
};
