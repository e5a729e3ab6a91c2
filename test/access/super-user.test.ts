/**
 * A super user's credential that was rotated reads and sends in its grace, and no more: over real
 * HTTP, and where a node has not heard of the rotation yet.
 */

import t from 'tap';
import { rotateCredential } from '../../src/access/credentials.ts';
import type { Store } from '../../src/database/store.ts';
import type { Caller } from '../../src/domain/caller.ts';
import type { ApiRoute, HttpRequest } from '../../src/http/handler.ts';
import { makeAdminRoutes } from '../support/admin-routes.ts';
import { secrets } from '../support/api.ts';
import { onEachStore } from '../support/on-each-store.ts';
import { until } from '../support/poll.ts';
import { openResources } from '../support/resources.ts';

const ROTATED = /^This credential was rotated/;
const GRACE = { graceHours: 24 };

/** A body for each route that only a super user may use, by its operation. */
const BODIES: Readonly<Record<string, object>> = {
  createKey: { name: 'CMS', scopes: ['send'] },
  rotateCredential: { graceHours: 0 },
  createWebhook: { url: 'https://example.com/' },
  changeWebhook: { isEnabled: false },
  rotateWebhookSecret: { graceHours: 0 },
  replayWebhookDeliveries: { state: 'dead' },
};

async function open(t: Parameters<typeof openResources>[0], store: Store) {
  const routes = makeAdminRoutes(store);
  const resources = await openResources(t, store, 'demo', routes);
  const forSuperUsers = routes.filter(
    (route): route is ApiRoute => 'needs' in route && route.needs === 'super-user',
  );
  const key = (await resources.ask('POST', 'keys', BODIES['createKey'])).body;
  const webhook = (await resources.ask('POST', 'webhooks', BODIES['createWebhook'])).body;
  const idOf = (route: ApiRoute): string =>
    String(route.path.includes('/keys') ? key.id : webhook.id);
  return { ...resources, forSuperUsers, idOf };
}

const requestOf = (route: ApiRoute, id: string): HttpRequest => ({
  method: route.method,
  path: route.path,
  params: { client: 'demo', id, role: 'super-user' },
  query: new URLSearchParams(),
  header: () => '',
  hasHeader: () => false,
  body: Buffer.from(JSON.stringify(BODIES[route.operation ?? ''] ?? {})),
  address: '192.0.2.7',
  isSecure: true,
  requestId: 'r',
});

await onEachStore(t, {
  'keys, credentials and webhooks are for the new one': async (t, store) => {
    const { ask, forSuperUsers, idOf, tenant } = await open(t, store);
    const fresh = (await ask('POST', 'credentials/super-user/rotate', GRACE)).body;
    t.ok(forSuperUsers.length >= 13);
    await until('the rotation to be known', async () =>
      (await ask('GET', 'keys')).status === 403 ? true : null,
    );
    for (const route of forSuperUsers) {
      const path = route.path
        .replace('/push-admin-api/v3/:client/', '')
        .replace(':id', idOf(route))
        .replace(':role', 'super-user');
      const body = BODIES[route.operation ?? ''];
      const { status, body: answer } = await ask(route.method, path, body);
      t.equal(status, 403, `${route.method} ${path}`);
      t.match(answer, { detail: ROTATED });
    }
    t.equal((await ask('GET', 'tags')).status, 200, 'it reads');
    t.equal((await ask('POST', 'tags', { name: 'News' })).status, 201, 'and what sends do first');
    const { body: keys } = await ask('GET', 'keys', undefined, fresh.token);
    t.equal(keys.length, 1);
    const again = await ask('POST', 'credentials/super-user/rotate', GRACE, fresh.token);
    t.equal(again.status, 200, 'the new one rotates');
    t.equal((await ask('GET', 'tags', undefined, tenant.superUser.token)).status, 200);
  },

  'also where the caller was remembered from before': async (t, store) => {
    const { forSuperUsers, idOf, tenant } = await open(t, store);
    const { sql } = store;
    const { clientId, slug, superUser } = tenant;
    const owner = { clientId, clientSlug: slug, appId: null };
    const fresh = await rotateCredential(sql, secrets, owner, 24);
    const tables = async () =>
      await sql`
      select (select json_agg(c order by id) from credentials c) as credentials,
        (select json_agg(k order by id) from client_keys k) as keys,
        (select json_agg(w order by id) from webhooks w) as webhooks`;
    const before = await tables();
    const changing = forSuperUsers.filter(({ method }) => method !== 'GET');
    t.equal(changing.length, 9);
    const remembered: Caller = {
      role: 'super-user',
      ...{ clientId, clientSlug: slug, appId: null, method: 'bearer' as const },
      userName: superUser.username,
    };
    for (const route of changing) {
      const asked = requestOf(route, idOf(route));
      const refused = await route.handle(asked, remembered);
      t.equal(refused.status, 403, `${route.method} ${route.path}`);
      t.match(JSON.parse(String(refused.body)), { detail: ROTATED });
    }
    t.same(await tables(), before, 'nothing is another');
    const rotate = changing.find(({ operation }) => operation === 'rotateCredential');
    const current = { ...remembered, userName: fresh.username };
    const answer = rotate && (await rotate.handle(requestOf(rotate, ''), current));
    t.equal(answer?.status, 200);
  },
});
