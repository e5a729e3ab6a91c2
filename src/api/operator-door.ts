/** The operator's routes without token or limits: by the engine's socket, or in process. */

import type { HttpResponse, OperatorRoute, Route } from '../http/handler.ts';
import { problem } from '../http/problem.ts';
import { requestIdOf } from '../http/request-id.ts';
import { Router } from '../http/router.ts';

interface Call {
  /** The path of the route as a pattern, for the log: the real one may hold an e-mail address. */
  readonly pattern: string;
  readonly bodyBytesMax: number;
  answer(body: Buffer): Promise<HttpResponse>;
}

export class OperatorDoor {
  readonly #router: Router<Route>;

  constructor(routes: readonly Route[]) {
    this.#router = new Router(routes);
  }

  /** The call that is asked for, or the answer where there is none. `target`: with its query. */
  find(method: string, target: string): Call | HttpResponse {
    const requestId = requestIdOf('');
    if (!URL.canParse(target, ENGINE)) {
      return problem(requestId, 400, 'The target of the request is no URL.');
    }
    const { pathname, searchParams } = new URL(target, ENGINE);
    const match = this.#router.match(method, pathname);
    if (match.kind !== 'found')
      return problem(requestId, 404, `There is no ${method} ${pathname}.`);
    const { path: pattern, bodyBytesMax } = match.route;
    const request = {
      ...{ method, path: pathname, params: match.params, query: searchParams, requestId },
      header: () => '',
      hasHeader: () => false,
      address: '',
      isSecure: true,
    };
    return {
      pattern,
      bodyBytesMax,
      async answer(body) {
        if (body.length > bodyBytesMax) {
          return problem(requestId, 413, `The body may have ${bodyBytesMax} bytes.`);
        }
        // The operator's routes take no caller.
        return await (match.route as OperatorRoute).handle({ ...request, body });
      },
    };
  }
}

const ENGINE = 'http://engine';

/** A `fetch` that asks in this process. */
export const fetchWithin = (routes: readonly Route[]): typeof fetch => {
  const door = new OperatorDoor(routes);
  return async (input, init) => {
    const { pathname, search } = new URL(String(input));
    const { method = 'GET', body } = init ?? {};
    const call = door.find(method, pathname + search);
    const {
      status,
      headers = {},
      body: answer,
    } = 'status' in call ? call : await call.answer(Buffer.from(String(body ?? '')));
    return new Response(answer.length === 0 ? null : new Uint8Array(Buffer.from(answer)), {
      status,
      headers,
    });
  };
};
