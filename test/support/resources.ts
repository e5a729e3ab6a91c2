/** A client's resources of the Admin API (v3), asked for over real HTTP. */

import type { Store } from '../../src/database/store.ts';
import type { Route } from '../../src/http/handler.ts';
import type { Tenant } from './api.ts';
import { addTenant, startApiOn } from './api.ts';
import type { Lifetime } from './lifetime.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every form.
  readonly body: any;
}

export interface Resources {
  readonly tenant: Tenant;
  readonly baseUrl: string;
  /** `path`: below `/push-admin-api/v3/<client>/`. By the super user, unless a token is given. */
  ask(method: string, path: string, body?: unknown, token?: string): Promise<Answer>;
  /** All pages of so many rows; `between`: what happens after each. */
  walk(path: string, limit: number, between?: () => Promise<unknown>): Promise<readonly unknown[]>;
}

export async function openResources(
  t: Lifetime,
  store: Store,
  slug: string,
  routes: readonly Route[],
): Promise<Resources> {
  const tenant = await addTenant(store.sql, slug);
  const { baseUrl } = await startApiOn(t, store, routes);
  const fetchAs = async (
    token: string,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Answer> => {
    const answer = await fetch(baseUrl + path, {
      method,
      headers: { Authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      headers: answer.headers,
      body: text === '' ? null : JSON.parse(text),
    };
  };
  const { token: own } = tenant.superUser;
  const root = `/push-admin-api/v3/${slug}/`;
  return {
    tenant,
    baseUrl,
    ask: (method, path, body, token = own) => fetchAs(token, method, root + path, body),
    async walk(path, limit, between = () => Promise.resolve()) {
      const rows: unknown[] = [];
      let next: string | null = `${root}${path}${path.includes('?') ? '&' : '?'}limit=${limit}`;
      while (next !== null) {
        const { status, body, headers }: Answer = await fetchAs(own, 'GET', next);
        if (status !== 200) throw new Error(`${next}: ${status} ${JSON.stringify(body)}`);
        rows.push(...body);
        next = NEXT.exec(headers.get('link') ?? '')?.[1] ?? null;
        await between();
      }
      return rows;
    },
  };
}

const NEXT = /^<([^>]+)>; rel="next"$/;

/** The paths of the faults that a 400 lists. */
export const pathsOf = ({ body }: Answer): readonly string[] =>
  (body.errors ?? []).map(({ path }: { path: string }) => path);
