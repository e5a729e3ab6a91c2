/**
 * A server with the given routes over a store, and two clients with their callers: what tests of
 * the APIs speak to.
 */

import { connect } from 'node:net';
import { pino } from 'pino';
import { Sessions } from '../../src/access/accounts/sessions.ts';
import { Authenticator } from '../../src/access/authenticate.ts';
import type { ShownCredential } from '../../src/access/credentials.ts';
import { createCredential } from '../../src/access/credentials.ts';
import { Failures } from '../../src/access/failures.ts';
import type { Secrets } from '../../src/access/secrets.ts';
import { createSecrets } from '../../src/access/secrets.ts';
import { RequestCounts } from '../../src/api/metrics.ts';
import type { Server, ServerLimits, ServerOptions } from '../../src/api/server.ts';
import { startServer } from '../../src/api/server.ts';
import { insertApp } from '../../src/catalogue/sql/insert-app.ts';
import { insertClient } from '../../src/clients/insert-client.ts';
import type { Sql } from '../../src/database/sql.ts';
import type { Store } from '../../src/database/store.ts';
import type { Route } from '../../src/http/handler.ts';
import { checked } from './document-check.ts';
import { OWN_FRONT } from './fronts.ts';
import type { Lifetime } from './lifetime.ts';

export const secrets: Secrets = createSecrets('a secret of the tests, long enough');

/** Times that no test waits for, and room for what a test does. */
export const PATIENT_LIMITS: ServerLimits = {
  requestsMax: 100,
  bodyBytesMax: 1_000_000,
  headTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
  bodyTimeoutMs: 60_000,
  answerTimeoutMs: 60_000,
  unsentBytesMax: 1_000_000_000,
  closingGraceMs: 0,
  drainTimeoutMs: 60_000,
};

export interface Tenant {
  readonly slug: string;
  readonly clientId: number;
  readonly appId: number;
  readonly superUser: ShownCredential;
  readonly apiUser: ShownCredential;
}

/** A client with one app on platforms 3 and 15, and a caller of each role. */
export async function addTenant(sql: Sql, slug: string): Promise<Tenant> {
  const clientId = await insertClient(sql, { slug, name: slug });
  if (clientId === null) throw new Error(`${slug} is taken`);
  const appId = await insertApp(sql, { clientId, name: 'App', platformIds: [3, 15] });
  const owner = { clientId, clientSlug: slug };
  return {
    slug,
    clientId,
    appId,
    superUser: await createCredential(sql, secrets, { ...owner, appId: null }),
    apiUser: await createCredential(sql, secrets, { ...owner, appId }),
  };
}

export interface Api {
  readonly server: Server;
  readonly baseUrl: string;
}

/** No person has signed in. */
const NO_SESSIONS: ServerOptions['sessions'] = {
  recall: () => 'ended',
  authenticate: () => 'ended',
  isCsrfToken: () => false,
};

/** Starts a server; it is closed when the test has ended. */
export async function startApi(
  t: Lifetime,
  authenticator: ServerOptions['authenticator'],
  routes: readonly Route[],
  more: Partial<ServerOptions> = {},
): Promise<Api> {
  const server = await startServer({
    routes: checked(routes),
    front: OWN_FRONT,
    host: '127.0.0.1',
    port: 0,
    tls: null,
    trustedProxies: [],
    corsOrigins: ['*'],
    operatorToken: null,
    connectionsMax: 100,
    authenticator,
    sessions: NO_SESSIONS,
    failures: new Failures(),
    counts: new RequestCounts(),
    log: pino({ level: 'silent' }),
    requestLog: 'none',
    tracer: null,
    // Clients keep connections that nothing comes over any more.
    limits: { closingGraceMs: 0 },
    ...more,
  });
  t.teardown(() => server.close());
  return { server, baseUrl: `http://127.0.0.1:${server.port}` };
}

/** The same with credentials from a store. */
export const startApiOn = (
  t: Lifetime,
  store: Store,
  routes: readonly Route[],
  more: Partial<ServerOptions> = {},
): Promise<Api> =>
  startApi(t, new Authenticator(store.sql, secrets), routes, {
    sessions: new Sessions(store.sql, secrets),
    ...more,
  });

export const bearer = ({ token }: ShownCredential): string => `Bearer ${token}`;
export const basic = ({ username, password }: ShownCredential): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

/**
 * Writes bytes as they are to a server and answers everything that came back until the connection
 * closed.
 */
export function speakRaw(
  port: number,
  text: string,
  afterwards: 'wait' | 'hang up' = 'wait',
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      if (afterwards === 'wait') socket.write(text);
      else socket.end(text);
    });
    let heard = '';
    socket.setEncoding('utf8').on('data', (part: string) => {
      heard += part;
    });
    socket.on('close', () => resolve(heard));
    socket.on('error', reject);
  });
}
