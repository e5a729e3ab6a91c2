/**
 * Limits of a client: rates are 429 and what it may have is 403, each with a sentence that names
 * the limit; over real HTTP with credentials from a store.
 */

import { once } from 'node:events';
import { connect } from 'node:net';
import type { Test } from 'tap';
import t from 'tap';
import { RequestCounts } from '../../src/api/metrics.ts';
import { changeClientLimits } from '../../src/clients/client-limits.ts';
import type { Store } from '../../src/database/store.ts';
import type { Route } from '../../src/http/handler.ts';
import { makeAdminRoutes } from '../support/admin-routes.ts';
import type { Tenant } from '../support/api.ts';
import { addTenant, bearer, startApiOn } from '../support/api.ts';
import { makeKey } from '../support/keys.ts';
import { until } from '../support/poll.ts';
import { withStores } from '../support/store.ts';

const shared = { operation: null, method: 'POST', bodyBytesMax: 100 } as const;
const done = () => ({ status: 200, body: 'done' });
const ROUTES: readonly Route[] = [
  { ...shared, api: 'admin', needs: 'any-scope', path: '/request', handle: done },
  {
    ...shared,
    api: 'notification',
    needs: 'any-scope',
    rate: 'pushes',
    path: '/push',
    handle: done,
  },
  { ...shared, api: 'app', rate: 'registrations', path: '/registration', handle: done },
  { ...shared, api: 'app', path: '/read', handle: done },
];

type Scene = (t: Test, store: Store) => Promise<void>;

/** Played on every store at the end of this file. */
const scenes: { readonly name: string; readonly play: Scene }[] = [];
const scene = (name: string, play: Scene): number => scenes.push({ name, play });

/** The answer of a problem. */
interface Problem {
  readonly status: number;
  readonly detail: string;
}

/** Asks at once: so the second that a bucket needs for a token does not pass in between. */
async function open(t: Test, store: Store, slug: string) {
  const tenant = await addTenant(store.sql, slug);
  const counts = new RequestCounts();
  const { baseUrl, server } = await startApiOn(t, store, ROUTES, { counts });
  const answers = (path: string, tokens: readonly string[]): Promise<readonly Response[]> =>
    Promise.all(
      tokens.map((token) =>
        fetch(baseUrl + path, { method: 'POST', headers: { Authorization: `Bearer ${token}` } }),
      ),
    );
  const statuses = async (path: string, ...tokens: readonly string[]) => {
    const seen = await answers(path, tokens);
    return seen.map(({ status }) => status).sort();
  };
  return { tenant, counts, port: server.port, answers, statuses };
}

scene('a credential has a part of the rate, and others notice nothing', async (t, store) => {
  const { tenant, answers, statuses, counts } = await open(t, store, 'rates');
  const other = await addTenant(store.sql, 'rates-other');
  const key = await makeKey(store.sql, tenant, { scopes: ['read'] });
  const { token } = tenant.superUser;
  await changeClientLimits(store.sql, 'rates', { credentialRequestsPerSecond: 1 });
  const [refused, ...more] = (await answers('/request', [token, token, token])).filter(
    ({ status }) => status === 429,
  );
  t.equal(more.length, 1);
  t.equal(refused?.headers.get('retry-after'), '1');
  t.match(await refused?.json(), {
    detail:
      'This client may have 1 requests with one credential of a publisher in a second, on each node: its limit credentialRequestsPerSecond. The operator of this service can change the limit.',
  });
  t.same(await statuses('/request', key), [200], 'its key has a part of its own');
  const foreign = other.superUser.token;
  t.same(await statuses('/request', foreign, foreign), [200, 200], 'another client');
  const app = tenant.apiUser.token;
  t.same(await statuses('/read', app, app), [200, 200], 'its apps');
  t.equal(counts.limitRefusals.with({ limit: 'credentialRequestsPerSecond' }).value, 2);
});

scene('all credentials of a client together have its rate', async (t, store) => {
  const { tenant, answers } = await open(t, store, 'together');
  await changeClientLimits(store.sql, 'together', { requestsPerSecond: 2 });
  const tokens = [tenant.superUser.token];
  for (const _ of [1, 2]) tokens.push(await makeKey(store.sql, tenant, { scopes: ['read'] }));
  const refused = (await answers('/request', tokens)).filter(({ status }) => status === 429);
  t.equal(refused.length, 1);
  t.match(await refused[0]?.json(), { detail: /its limit requestsPerSecond\./ });
});

scene('pushes, registrations and reads have rates of their own', async (t, store) => {
  const { tenant, statuses } = await open(t, store, 'kinds');
  await changeClientLimits(store.sql, 'kinds', {
    pushesPerSecond: 1,
    registrationsPerSecond: 1,
    credentialReadsPerSecond: 1,
  });
  const { token } = tenant.superUser;
  const app = tenant.apiUser.token;
  t.same(await statuses('/push', token, token), [200, 429]);
  t.same(await statuses('/request', token, token), [200, 200], 'no pushes');
  t.same(await statuses('/registration', app, app), [200, 429]);
  t.same(await statuses('/read', app, app), [200, 429]);
});

scene('a change holds soon, for callers that are known', async (t, store) => {
  const { tenant, statuses } = await open(t, store, 'changed');
  const { token } = tenant.superUser;
  const twice = () => statuses('/request', token, token);
  t.same(await twice(), [200, 200]);
  await changeClientLimits(store.sql, 'changed', { requestsPerSecond: 1 });
  await until('the limit holds', async () => ((await twice()).includes(429) ? true : null));
  await changeClientLimits(store.sql, 'changed', { requestsPerSecond: null });
  await until('it holds no more', async () => ((await twice()).includes(429) ? null : true));
});

scene('a request counts once, also when its body comes late', async (t, store) => {
  const { tenant, port, statuses } = await open(t, store, 'late');
  await changeClientLimits(store.sql, 'late', { requestsPerSecond: 1 });
  const socket = connect(port, '127.0.0.1');
  socket.setEncoding('utf8');
  t.teardown(() => socket.destroy());
  const head = `POST /request HTTP/1.1\r\nHost: a\r\nAuthorization: ${bearer(tenant.superUser)}\r\nContent-Length: 1\r\n\r\n`;
  // The server has read it before it hears of the next connection.
  await new Promise((resolve) => socket.write(head, resolve));
  await until('it has the token', async () =>
    (await statuses('/request', tenant.superUser.token)).includes(429) ? true : null,
  );
  socket.write('x');
  const [answer] = (await once(socket, 'data')) as [string];
  t.match(answer, /^HTTP\/1\.1 200 /);
});

/** The Admin API of a tenant. */
async function openAdmin(t: Test, store: Store, tenant: Tenant) {
  const counts = new RequestCounts();
  const routes = makeAdminRoutes(store);
  const { baseUrl } = await startApiOn(t, store, routes, { counts });
  const post = async (path: string, body: unknown): Promise<Problem> => {
    const answer = await fetch(`${baseUrl}/push-admin-api/${path}`, {
      method: 'POST',
      headers: { Authorization: bearer(tenant.superUser) },
      body: JSON.stringify(body),
    });
    return { ...((await answer.json()) as Problem), status: answer.status };
  };
  return { post, counts };
}

scene(
  'what a client may have is 403 with the limit, and what it has stays its own',
  async (t, store) => {
    const tenant = await addTenant(store.sql, 'counts');
    const { post, counts } = await openAdmin(t, store, tenant);
    await changeClientLimits(store.sql, 'counts', { tags: 2, tagGroups: 1, apps: 2, keys: 1 });
    const tag = (sourceId: string) => ({ name: sourceId, sourceId });
    const cases: readonly (readonly [limit: string, path: string, body: unknown])[] = [
      ['tags', 'tag/add/counts', { tags: [tag('c')] }],
      ['tags', 'v3/counts/tags', tag('c')],
      ['tagGroups', 'tag/add/counts', { groups: [tag('h')] }],
      ['tagGroups', 'v3/counts/groups', tag('h')],
      ['apps', 'v3/counts/apps', { name: 'Third', platformIds: [3] }],
      ['apps', 'app/add/counts', { name: 'Third', platformId: 3 }],
      ['keys', 'v3/counts/keys', { name: 'Second', scopes: ['read'] }],
    ];
    const tooManyAtOnce = { tags: ['a', 'b', 'c'].map(tag) };
    t.match(await post('tag/add/counts', tooManyAtOnce), {
      status: 403,
      detail:
        'This client may have 2 tags, and it has 0: its limit tags. Delete some. The operator of this service can change the limit.',
    });
    t.equal((await post('tag/add/counts', { tags: ['a', 'b'].map(tag) })).status, 200);
    t.equal((await post('tag/add/counts', { groups: [tag('g')] })).status, 200);
    t.equal((await post('v3/counts/apps', { name: 'Second', platformIds: [3] })).status, 201);
    t.equal((await post('v3/counts/keys', { name: 'First', scopes: ['read'] })).status, 201);
    for (const [limit, path, body] of cases) {
      const answer = await post(path, body);
      t.equal(answer.status, 403, `${limit} by ${path}`);
      t.match(answer.detail, new RegExp(`, and it has [12]: its limit ${limit}\\.`), path);
    }
    t.equal(counts.limitRefusals.with({ limit: 'tagGroups' }).value, 2);
    await changeClientLimits(store.sql, 'counts', { tags: 1 });
    const renamed = { tags: [{ ...tag('a'), name: 'Renamed' }] };
    t.equal((await post('tag/add/counts', renamed)).status, 200, 'what is there may be changed');
  },
);

t.test('on every store', async (t) => {
  await withStores(t, async (t, store) => {
    for (const { name, play } of scenes) await t.test(name, (t) => play(t, store));
  });
});
