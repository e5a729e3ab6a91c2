/**
 * How the rooms call the engine: the typed client of packages/client with the session in place of
 * a credential.
 */

import { TagcastClient } from '../../../packages/client/src/client.ts';
import { readEvents } from '../../../packages/client/src/events.ts';
import { problemOf } from '../../../packages/client/src/problem.ts';
import { session } from '../state/session.svelte.ts';
import { BASE_URL } from './console-api.ts';

/** For each attempt. */
const TIMEOUT_MS = 30_000;
/** The client's own limit would run while somebody types a password. */
const NO_LIMIT_MS = 2_147_483_647;

/** The engine's APIs for one client. */
export class ClientApi extends TagcastClient {
  readonly clientId: string;

  constructor(clientId: string) {
    super({
      baseUrl: BASE_URL,
      client: clientId,
      timeoutMs: NO_LIMIT_MS,
      fetch: (input, init) => send(clientId, input, init ?? {}, TIMEOUT_MS),
    });
    this.clientId = clientId;
  }

  /** The console's own routes that are of this client: members, credentials. */
  own<T>(method: string, path: string, body?: unknown): Promise<T> {
    const { clientId } = this;
    return session.ask<T>(method, path, body === undefined ? { clientId } : { clientId, body });
  }

  /**
   * Listens to a notification until it ends: `onProgress` gets it whole each time. Resolves when it
   * has ended or the signal says so; rejects when the stream broke.
   */
  async listen(
    id: string,
    onProgress: (data: unknown) => void,
    signal: AbortSignal,
  ): Promise<boolean> {
    const url = new URL(
      `push-api/v3/${encodeURIComponent(this.clientId)}/notifications/${encodeURIComponent(id)}/events`,
      BASE_URL,
    );
    const response = await send(this.clientId, url, { method: 'GET', signal }, null);
    if (!response.ok) throw await problemOf(response);
    for await (const { event, data } of readEvents(response.body)) {
      if (event === 'progress') onProgress(JSON.parse(data));
      if (event === 'end') return true;
    }
    return false;
  }
}

/** With the session; one that has ended is renewed, and the request sent again. */
async function send(
  clientId: string,
  input: RequestInfo | URL,
  init: RequestInit,
  timeoutMs: number | null,
): Promise<Response> {
  const once = () => {
    const headers = new Headers(init.headers);
    headers.set('X-CSRF-Token', session.csrfToken);
    headers.set('Tagcast-Client', clientId);
    const signals = [init.signal, timeoutMs === null ? null : AbortSignal.timeout(timeoutMs)];
    const signal = AbortSignal.any(signals.filter((one) => one instanceof AbortSignal));
    return fetch(input, { ...init, headers, signal, credentials: 'same-origin' });
  };
  const used = session.csrfToken;
  const response = await once();
  if (response.status !== 401 && response.status !== 403) return response;
  return (await session.renew(used)) ? once() : response;
}
