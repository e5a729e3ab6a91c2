/** The console's own routes, `/console/api/…`: who is signed in, and who may be. */

import { problemOf } from '../../../packages/client/src/problem.ts';

export type Role = 'owner' | 'publisher' | 'viewer';

/** A client of the account, with what the account may do there. */
export interface Membership {
  readonly clientId: string;
  readonly name: string;
  readonly role: Role;
}

export interface SessionAnswer {
  readonly csrfToken: string;
  readonly account: {
    readonly id: number | string;
    readonly email: string;
    readonly isOperator: boolean;
  };
  readonly clients: readonly Membership[];
  /** Epoch milliseconds. */
  readonly endsAt: number;
}

export interface Settings {
  readonly signUp: 'off' | 'open' | 'invitation';
}

export interface Member {
  readonly accountId: number | string;
  readonly email: string;
  readonly role: Role;
  readonly addedAt: number;
  readonly lastSignInAt?: number | null;
}

export interface OneTimeLink {
  readonly link: string;
  readonly expiresAt: number;
}

/** A credential on the Info page. */
export interface ShownCredential {
  readonly token: string;
  readonly userName: string;
  readonly password: string;
}

/** Null: it was made with another SECRET_KEY, and cannot be read. */
export interface Credentials {
  readonly superUser: ShownCredential | null;
  readonly apps: readonly {
    readonly appId: number;
    readonly name: string;
    readonly apiUser: ShownCredential | null;
  }[];
}

/** Without a limit a request without an answer would leave the page waiting. */
const TIMEOUT_MS = 30_000;
/** The page is at `…/console/`, the APIs beside it, whatever path a proxy serves them under. */
export const BASE_URL = new URL('..', document.baseURI).href;

/** Under which address people reach a path of the engine, which does not know of the proxy's. */
export const addressOf = (path: string): string => new URL(`.${path}`, BASE_URL).href;

export interface Asked {
  readonly csrfToken?: string;
  readonly clientId?: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** Sends a request. Rejects with a ProblemError when it is refused; null: an answer without body. */
export async function ask<T>(
  method: string,
  path: string,
  { csrfToken, clientId, body, signal }: Asked = {},
): Promise<T> {
  const headers = new Headers({ Accept: 'application/json' });
  if (csrfToken !== undefined) headers.set('X-CSRF-Token', csrfToken);
  if (clientId !== undefined) headers.set('Tagcast-Client', clientId);
  if (body !== undefined) headers.set('Content-Type', 'application/json');
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(new URL(`console/api/${path}`, BASE_URL), {
    method,
    headers,
    credentials: 'same-origin',
    signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw await problemOf(response);
  const text = await response.text();
  return (text === '' ? null : JSON.parse(text)) as T;
}
