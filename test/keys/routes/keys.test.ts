/**
 * Further keys: made, listed and deleted by the super user; what they may do with pushes, status
 * and the Admin API.
 */

import type { Test } from 'tap';
import t from 'tap';
import { insertApp } from '../../../src/catalogue/sql/insert-app.ts';
import type { Store } from '../../../src/database/store.ts';
import { Accept } from '../../../src/push/accept/accept.ts';
import { pushRoute } from '../../../src/push/routes/push.ts';
import { statusRoute } from '../../../src/push/routes/status.ts';
import { SqlTagIndex } from '../../../src/tag-index/sql/sql-tag-index.ts';
import { makeAdminRoutes } from '../../support/admin-routes.ts';
import { addTenant, startApiOn } from '../../support/api.ts';
import { evaluator } from '../../support/evaluator.ts';
import { NEVER_AT_ONCE } from '../../support/never-at-once.ts';
import { until } from '../../support/poll.ts';
import { seedDevices } from '../../support/seed.ts';
import { SILENT_JOURNAL } from '../../support/silent-journal.ts';
import { withStores } from '../../support/store.ts';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every form.
  readonly body: any;
}

const PAYLOAD = { title: 'goal!' };

async function open(t: Test, store: Store) {
  const { sql, patientReads } = store;
  const demo = await addTenant(sql, 'demo');
  const other = await addTenant(sql, 'other');
  const accept = new Accept({
    replaceableDefault: true,
    atOnce: NEVER_AT_ONCE,
    journal: SILENT_JOURNAL,
    sql,
    patientReads,
    tagIndex: new SqlTagIndex(sql),
    evaluator,
    isSimulated: () => false,
    onAccepted: () => undefined,
  });
  const { baseUrl } = await startApiOn(t, store, [
    ...makeAdminRoutes(store),
    pushRoute(accept, sql),
    statusRoute(patientReads),
  ]);
  const ask = async (
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
    const isJson = /json/.test(answer.headers.get('content-type') ?? '');
    return {
      status: answer.status,
      headers: answer.headers,
      body: isJson ? JSON.parse(text) : text,
    };
  };
  const { token } = demo.superUser;
  const added = await ask(token, 'POST', '/push-admin-api/tag/add/demo', {
    groups: [
      { name: 'Sport', sourceId: 'sport' },
      { name: 'Football', sourceId: 'football', parentGroupSourceId: 'sport' },
    ],
    tags: [
      { name: 'Goals', sourceId: 'goals' },
      { name: 'Cup', sourceId: 'cup', groupSourceId: 'football' },
      { name: 'News', sourceId: 'news' },
    ],
  });
  const [goals, cup, news] = added.body.tags.map(({ id }: { id: number }) => id);
  const [sport, football] = added.body.groups.map(({ id }: { id: number }) => id);
  await seedDevices(sql, { appId: demo.appId, platformId: 3, tagIds: [goals], count: 3 });
  const keys = '/push-admin-api/v3/demo/keys';
  return {
    demo,
    other,
    goals,
    cup,
    news,
    sport,
    football,
    secondApp: await insertApp(sql, { clientId: demo.clientId, name: 'Second', platformIds: [3] }),
    keys,
    ask,
    asSuper: (method: string, path: string, body?: unknown) => ask(token, method, path, body),
    async make(terms: object): Promise<string> {
      const made = await ask(token, 'POST', keys, { name: 'CMS', ...terms });
      t.equal(made.status, 201, JSON.stringify(terms));
      return made.body.token;
    },
    push: (by: string, terms: object) =>
      ask(by, 'POST', '/push-api/push', { payload: PAYLOAD, ...terms }),
  };
}

t.test('keys', async (t) => {
  await withStores(t, async (t, store) => {
    const scene = await open(t, store);
    await t.test('made, shown once, listed, used, deleted', (t) => life(t, store, scene));
    await t.test('scopes', (t) => scopes(t, scene));
    await t.test('limits to tags and groups', (t) => tagLimits(t, scene));
    await t.test('limits to apps and devices', (t) => otherLimits(t, scene));
    await t.test('deleted with its jobs', (t) => deletedWithJobs(t, store, scene));
    await t.test('limits to what is gone', (t) => goneLimits(t, store, scene));
    await t.test('administering some tags and groups', (t) => administersSome(t, scene));
    await t.test('administering the tags of some apps', (t) => administersApps(t, scene));
    await t.test('reading what it is for', (t) => readsSome(t, scene));
    await t.test('what is refused', (t) => refusals(t, scene));
    await t.test('pages', (t) => pages(t, scene));
  });
});

type Scene = Awaited<ReturnType<typeof open>>;

async function life(t: Test, { sql }: Store, { asSuper, ask, keys, goals }: Scene): Promise<void> {
  const end = Date.now() + 3_600_000;
  const made = await asSuper('POST', keys, {
    name: 'CMS',
    scopes: ['read', 'send', 'read'],
    tagSourceIds: ['goals'],
    tagIds: [String(goals)],
    groupSourceIds: ['sport'],
    maxDevices: 10,
    expiresAt: new Date(end).toISOString(),
  });
  t.equal(made.status, 201);
  t.equal(made.headers.get('cache-control'), 'no-store');
  const { token, ...shown } = made.body;
  t.match(token, /^tck_[0-9A-Za-z]{32}$/);
  t.match(shown, {
    name: 'CMS',
    scopes: ['send', 'read'],
    tagIds: [goals],
    maxDevices: 10,
    expiresAt: end,
    userName: /^demo-key-[0-9a-z]{12}$/,
  });
  t.notOk(JSON.stringify(await sql`select * from client_keys`).includes(token), 'not in the open');
  const list = async () => (await asSuper('GET', keys)).body;
  t.match(await list(), [{ ...shown, createdAt: Number }]);
  t.notOk(JSON.stringify(await list()).includes(token), 'never again');
  t.notOk('lastUsedAt' in (await list())[0]);
  const endpoint = '/push-admin-api/endpoints/get';
  t.equal((await ask(token, 'GET', endpoint)).status, 200);
  await until('its use is noted', async () => ('lastUsedAt' in (await list())[0] ? true : null));

  t.equal((await asSuper('DELETE', `${keys}/${shown.id}`)).status, 204);
  t.equal((await asSuper('DELETE', `${keys}/${shown.id}`)).status, 404);
  await until('it is refused', async () =>
    (await ask(token, 'GET', endpoint)).status === 401 ? true : null,
  );
  t.same(await list(), []);

  const ended = await asSuper('POST', keys, { name: 'Ends', scopes: ['read'], expiresAt: end });
  t.equal((await ask(ended.body.token, 'GET', endpoint)).status, 200);
  await sql`update client_keys set expires_at = now()`;
  await until('its end has come', async () =>
    (await ask(ended.body.token, 'GET', endpoint)).status === 401 ? true : null,
  );
  t.match(await list(), [{ name: 'Ends' }], 'listed until it is deleted');
  await asSuper('DELETE', `${keys}/${ended.body.id}`);
}

async function scopes(t: Test, { ask, make, push, asSuper, goals, keys }: Scene): Promise<void> {
  const job = (await push(await make({ scopes: ['send'] }), { tagIds: [goals] })).body;
  const tag = { tags: [{ sourceId: 'goals', name: 'Goals' }] };
  const table: readonly (readonly [scope: string, method: string, path: string, body?: unknown])[] =
    [
      ['send', 'POST', '/push-api/push', { payload: PAYLOAD, tagIds: [goals] }],
      ['read', 'GET', `/push-api/status/${job}`],
      ['read', 'GET', `/push-admin-api/tag/id/${goals}/demo`],
      ['read', 'GET', '/push-admin-api/tag/sourceId/goals/demo'],
      ['read', 'GET', `/push-admin-api/v3/demo/stats/tag/${goals}`],
      ['admin', 'POST', '/push-admin-api/tag/add/demo', tag],
      ['admin', 'POST', '/push-admin-api/tag/update/demo', tag],
      ['super-user', 'GET', keys],
      ['super-user', 'POST', keys, { name: 'Another', scopes: ['admin'] }],
      ['super-user', 'DELETE', `${keys}/1`],
    ];
  for (const scope of ['send', 'read', 'admin']) {
    const token = await make({ scopes: [scope] });
    for (const [needed, method, path, body] of table) {
      const { status } = await ask(token, method, path, body);
      t.equal(status, needed === scope ? 200 : 403, `${scope}: ${method} ${path}`);
    }
  }
  t.equal((await asSuper('GET', `/push-api/status/${job}`)).status, 200);
}

async function tagLimits(t: Test, scene: Scene): Promise<void> {
  const { ask, make, push, asSuper, goals, cup, news, demo } = scene;
  const both = { scopes: ['send', 'read'] };
  const byTag = await make({ ...both, tagSourceIds: ['goals'] });
  const byGroup = await make({ ...both, groupSourceIds: ['sport'] });
  const pushes: readonly (readonly [terms: object, byTag: number, byGroup: number])[] = [
    [{ tagIds: [goals] }, 200, 403],
    [{ tagSourceIds: ['goals'] }, 200, 403],
    [{ tagIds: [cup] }, 403, 200],
    [{ tagIds: [goals, cup] }, 403, 403],
    [{ tagIds: [news] }, 403, 403],
    [{ tagIds: [news], filterTagIds: [goals] }, 200, 403],
    [{ tagIds: [news], filterTagSourceIds: ['cup', 'news'] }, 403, 200],
    [{ tagIds: [goals], excludeTagIds: [news] }, 200, 403],
    [{ tagSourceIds: ['nobody knows it'] }, 403, 403],
    [{ tagIds: [goals, 2_147_483_648] }, 403, 403],
    [{ tagIds: [news], dryRun: true }, 403, 403],
    [{ tagIds: [goals], dryRun: true }, 200, 403],
  ];
  for (const [terms, first, second] of pushes) {
    const text = JSON.stringify(terms);
    t.equal((await push(byTag, terms)).status, first, `by tag: ${text}`);
    t.equal((await push(byGroup, terms)).status, second, `by group: ${text}`);
  }
  const statusOf = async (token: string, job: string) =>
    (await ask(token, 'GET', `/push-api/status/${job}`)).status;
  const own = (await push(byTag, { tagIds: [goals] })).body;
  const foreign = (await asSuper('POST', '/push-api/push', { payload: PAYLOAD, tagIds: [goals] }))
    .body;
  t.equal(await statusOf(byTag, own), 200, 'its own job');
  t.equal(await statusOf(byTag, foreign), 404, "another's");
  t.equal(await statusOf(byGroup, own), 404, "another key's");
  t.equal(await statusOf(demo.superUser.token, own), 200, 'the super user sees all');
  t.equal(await statusOf(await make({ scopes: ['read'] }), own), 200, 'a key without limits too');
  for (const path of ['tag/id/TAG/demo', 'v3/demo/stats/tag/TAG']) {
    const tagPath = (tag: number) => `/push-admin-api/${path.replace('TAG', String(tag))}`;
    t.equal((await ask(byTag, 'GET', tagPath(goals))).status, 200, path);
    t.equal((await ask(byTag, 'GET', tagPath(cup))).status, 403, path);
    t.equal((await ask(byGroup, 'GET', tagPath(cup))).status, 200, path);
  }
}

async function otherLimits(
  t: Test,
  { make, push, ask, demo, goals, asSuper }: Scene,
): Promise<void> {
  const byApp = await make({ scopes: ['send', 'read'], appIds: [demo.appId] });
  t.equal((await push(byApp, { tagIds: [goals], appIds: [demo.appId] })).status, 200);
  t.equal((await push(byApp, { tagIds: [goals], appIds: [demo.appId, 99_999] })).status, 403);
  const job = (await push(byApp, { tagIds: [goals] })).body;
  const rows = (await asSuper('GET', `/push-api/status/${job}`)).body as { appId: number }[];
  t.same(new Set(rows.map(({ appId }) => appId)), new Set([demo.appId]));
  const stats = await ask(byApp, 'GET', `/push-admin-api/v3/demo/stats/tag/${goals}`);
  t.equal(stats.status, 403, 'they are of all apps');

  const three = await make({ scopes: ['send'], maxDevices: 3 });
  const two = await make({ scopes: ['send'], maxDevices: 2 });
  t.equal((await push(three, { tagIds: [goals] })).status, 200);
  t.match(await push(two, { tagIds: [goals] }), {
    status: 403,
    body: { detail: /for 3 devices, and this key for 2 at most/ },
  });
  t.equal((await push(two, { tagIds: [goals], dryRun: true })).status, 200, 'counting is allowed');
}

const V3 = '/push-admin-api/v3/demo';
const LEGACY = '/push-admin-api/tag';

async function deletedWithJobs(t: Test, { sql }: Store, scene: Scene): Promise<void> {
  const { make, push, asSuper, keys, goals, demo } = scene;
  const later = { tagIds: [goals], sendAt: Date.now() + 3_600_000 };
  const tokens = [await make({ scopes: ['send'] }), await make({ scopes: ['send'] })] as const;
  const [kept, gone] = (await asSuper('GET', keys)).body.slice(-2);
  const ids: string[] = [];
  for (const terms of [later, later, { tagIds: [goals] }]) {
    ids.push((await push(tokens[1], terms)).body);
  }
  await sql`update notifications set state = 'PAUSED', open_chunks = -1 where id = ${ids[1] ?? ''}`;
  const others = [
    (await push(tokens[0], later)).body,
    (await push(demo.superUser.token, later)).body,
  ];
  const stateOf = async (id: string) =>
    (await sql<{ state: string }[]>`select state from notifications where id = ${id}`)[0]?.state;
  t.match(await asSuper('DELETE', `${keys}/${gone.id}?cancelJob=true`), { status: 400 });
  t.match(await asSuper('DELETE', `${keys}/${gone.id}?cancelJobs=1`), { status: 400 });
  t.equal((await asSuper('DELETE', `${keys}/${gone.id}?cancelJobs=true`)).status, 204);
  for (const id of ids) t.equal(await stateOf(id), 'CANCELLED');
  const open = await sql`
    select from notifications where id = any (${`{${ids.join(',')}}`}::uuid[]) and finished_at is null`;
  t.equal(open.length, 0, 'they have ended');
  for (const id of others) t.equal(await stateOf(id), 'SCHEDULED', 'those of others stay');
  t.equal((await asSuper('DELETE', `${keys}/${kept.id}`)).status, 204);
  t.equal(await stateOf(others[0]), 'SCHEDULED', 'unless it is asked for');
  const [entry] =
    await sql`select detail from audit_entries where action = 'key.delete' and object_id = ${String(gone.id)}`;
  t.same(entry?.['detail'], { cancelJobs: true });
  await sql`update notifications set state = 'CANCELLED', finished_at = now() where finished_at is null`;
}

async function goneLimits(t: Test, { sql }: Store, scene: Scene): Promise<void> {
  const { make, push, ask, asSuper, goals, demo } = scene;
  const [gone, kept] = [
    await insertApp(sql, { clientId: demo.clientId, name: 'Gone', platformIds: [3] }),
    await insertApp(sql, { clientId: demo.clientId, name: 'On no platform', platformIds: [] }),
  ];
  const tag = (await asSuper('POST', `${V3}/tags`, { name: 'Gone' })).body.id;
  const group = (await asSuper('POST', `${V3}/groups`, { name: 'Gone' })).body.id;
  const scopes = ['send', 'read', 'admin'];
  const byApps = await make({ scopes, appIds: [demo.appId, gone, kept] });
  const byGone = await make({ scopes, appIds: [gone] });
  const byTags = await make({ scopes, tagIds: [tag, goals] });
  const byTag = await make({ scopes, tagIds: [tag] });
  const byGroup = await make({ scopes, groupIds: [group] });
  const unnamed = await push(byApps, { tagIds: [goals] });
  t.equal(unnamed.status, 200, 'before');
  t.equal((await asSuper('DELETE', `${V3}/apps/${gone}`)).status, 204);
  t.equal((await asSuper('DELETE', `${V3}/tags/${tag}`)).status, 204);
  t.equal((await asSuper('DELETE', `${V3}/groups/${group}`)).status, 204);

  t.equal((await push(byApps, { tagIds: [goals] })).status, 200, 'at once, whatever is remembered');
  t.equal((await push(byApps, { tagIds: [goals], appIds: [demo.appId] })).status, 200);
  t.equal((await push(byTags, { tagIds: [goals] })).status, 200);
  await until('the deletion to be known', async () =>
    (await push(byGone, { tagIds: [goals] })).status === 403 ? true : null,
  );
  t.match((await push(byGone, { tagIds: [goals] })).body.detail, /apps .* are gone/);
  t.equal((await push(byApps, { tagIds: [goals] })).status, 200);
  t.equal((await push(byApps, { tagIds: [goals], appIds: [gone] })).status, 403);
  t.equal((await push(byTag, { tagIds: [tag] })).status, 403);
  t.equal((await push(byTag, { tagIds: [goals] })).status, 403);
  t.equal((await push(byGroup, { tagIds: [goals] })).status, 403);

  const made = await ask(byApps, 'POST', `${V3}/tags`, { name: 'its own' });
  t.match(made, { status: 201, body: { appIds: [demo.appId, kept] } });
  t.equal((await ask(byApps, 'DELETE', `${V3}/tags/${made.body.id}`)).status, 204);
  const orphan = (await asSuper('POST', `${V3}/tags`, { name: 'Orphan' })).body;
  await sql`update tags set app_ids = '{}' where id = ${orphan.id}`; // as an app's deletion leaves it
  for (const token of [byApps, byGone, byTag, byGroup]) {
    await holds(t, scene, token, [['DELETE', `${V3}/tags/${orphan.id}`, undefined, 403]]);
  }
  await holds(t, scene, byGone, [
    ['POST', `${V3}/tags`, { name: 'x' }, 403],
    ['GET', `${V3}/apps/${demo.appId}`, undefined, 403],
    ['GET', `${V3}/tags/${goals}`, undefined, 403],
  ]);
  t.same((await ask(byGone, 'GET', `${V3}/apps`)).body, []);
  t.same((await ask(byGone, 'GET', `${V3}/tags`)).body, []);
  await asSuper('DELETE', `${V3}/tags/${orphan.id}`);
  await asSuper('DELETE', `${V3}/apps/${kept}`);
}

type Attempt = readonly [method: string, path: string, body: unknown, status: number];

/** Each of the requests, by one key: the statuses stand in the table. */
async function holds(t: Test, { ask }: Scene, token: string, table: readonly Attempt[]) {
  for (const [method, path, body, status] of table) {
    const answer = await ask(token, method, path, body);
    t.equal(answer.status, status, `${method} ${path} ${JSON.stringify(body)}`);
    if (status === 403) t.match(answer.body.detail, /outside of what this key is for/);
  }
}

async function administersSome(t: Test, scene: Scene): Promise<void> {
  const { make, asSuper, goals, cup, news, sport, football } = scene;
  const byTag = await make({ scopes: ['admin'], tagIds: [goals] });
  const byGroup = await make({ scopes: ['admin'], groupIds: [football] });
  const tag = (path: string, fields: object) =>
    [`${LEGACY}/${path}/demo`, { tags: [fields] }] as const;
  const group = (path: string, fields: object) =>
    [`${LEGACY}/${path}/demo`, { groups: [fields] }] as const;
  const before = (await asSuper('GET', `${V3}/tags`)).body;
  await holds(t, scene, byTag, [
    ['PATCH', `${V3}/tags/${goals}`, { name: 'Goals!' }, 200],
    ['PATCH', `${V3}/tags/${goals}`, { name: 'Goals' }, 200],
    ['PATCH', `${V3}/tags/${goals}`, { groupId: sport }, 403],
    ['PATCH', `${V3}/tags/${cup}`, { name: 'x' }, 403],
    ['PATCH', `${V3}/tags/${cup}`, {}, 403],
    ['PATCH', `${V3}/tags/99999`, {}, 404],
    ['DELETE', `${V3}/tags/${news}`, undefined, 403],
    ['POST', `${V3}/tags`, { name: 'new' }, 403],
    ['POST', `${V3}/tags`, { name: 'new', groupId: sport }, 403],
    ['POST', `${V3}/groups`, { name: 'new' }, 403],
    ['PATCH', `${V3}/groups/${sport}`, { name: 'x' }, 403],
    ['DELETE', `${V3}/groups/${sport}`, undefined, 403],
    ['POST', ...tag('add', { name: 'Goals', sourceId: 'goals' }), 200],
    ['POST', ...tag('add', { name: 'News', sourceId: 'news' }), 403],
    ['POST', ...tag('add', { name: 'new' }), 403],
    ['POST', ...tag('update', { sourceId: 'goals', expiration: null }), 200],
    ['POST', ...tag('update', { sourceId: 'cup', expiration: null }), 403],
    ['POST', ...tag('delete', { sourceId: 'cup' }), 403],
    ['POST', ...group('add', { name: 'new' }), 403],
    ['POST', ...group('update', { sourceId: 'sport', name: 'x' }), 403],
    ['POST', ...group('delete', { sourceId: 'football' }), 403],
  ]);
  t.same((await asSuper('GET', `${V3}/tags`)).body, before, 'all of it is as it was');

  await holds(t, scene, byGroup, [
    ['PATCH', `${V3}/tags/${cup}`, { name: 'Cup!' }, 200],
    ['PATCH', `${V3}/tags/${cup}`, { groupId: null }, 403],
    ['PATCH', `${V3}/tags/${cup}`, { groupId: sport }, 403],
    ['PATCH', `${V3}/tags/${goals}`, { groupId: football }, 403],
    ['POST', `${V3}/tags`, { name: 'new', sourceId: 'bayern', groupId: football }, 201],
    ['POST', `${V3}/tags`, { name: 'new', groupId: sport }, 403],
    ['POST', `${V3}/tags`, { name: 'new' }, 403],
    ['POST', `${V3}/groups`, { name: 'Clubs', sourceId: 'clubs', parentId: football }, 201],
    ['POST', `${V3}/groups`, { name: 'Clubs', parentId: sport }, 403],
    ['PATCH', `${V3}/groups/${football}`, { name: 'Football!' }, 200],
    ['PATCH', `${V3}/groups/${football}`, { parentId: null }, 403],
    ['PATCH', `${V3}/groups/${sport}`, { parentId: football }, 403],
    ['PATCH', `${V3}/groups/${sport}`, { name: 'x' }, 403],
    ['POST', ...tag('update', { sourceId: 'bayern', groupSourceId: 'clubs' }), 200],
    ['POST', ...tag('update', { sourceId: 'bayern', groupSourceId: 'sport' }), 403],
    ['POST', ...group('update', { sourceId: 'clubs', parentGroupSourceId: null }), 403],
    ['POST', ...group('delete', { sourceId: 'clubs' }), 409],
    ['POST', ...tag('delete', { sourceId: 'bayern' }), 200],
    ['POST', ...group('delete', { sourceId: 'clubs' }), 200],
  ]);
  // Groups and tags of one request: inside of each other they are in the key's group.
  const nested = await scene.ask(byGroup, 'POST', `${LEGACY}/add/demo`, {
    groups: [
      { name: 'A', sourceId: 'a', parentGroupSourceId: 'football' },
      { name: 'B', sourceId: 'b', parentGroupSourceId: 'a' },
    ],
    tags: [{ name: 'C', sourceId: 'c', groupSourceId: 'b' }],
  });
  t.equal(nested.status, 200);
  const groupsBefore = (await asSuper('GET', `${V3}/groups`)).body;
  const half = await scene.ask(byGroup, 'POST', `${LEGACY}/add/demo`, {
    groups: [{ name: 'D', sourceId: 'd', parentGroupSourceId: 'a' }],
    tags: [
      { name: 'E', sourceId: 'e', groupSourceId: 'd' },
      { name: 'News', sourceId: 'news' },
    ],
  });
  t.match(half, { status: 403, body: { detail: /^tags\.1 is outside/ } });
  // A foreign group does not become the key's by being put under its own.
  const taken = await scene.ask(byGroup, 'POST', `${LEGACY}/add/demo`, {
    groups: [{ name: 'Foreign', sourceId: 'foreign' }],
  });
  t.match(taken, { status: 403, body: { detail: /^groups\.0 is outside/ } });
  await asSuper('POST', `${V3}/groups`, { name: 'Foreign', sourceId: 'foreign' });
  const moved = {
    groups: [{ name: 'Foreign', sourceId: 'foreign', parentGroupSourceId: 'football' }],
  };
  t.equal((await scene.ask(byGroup, 'POST', `${LEGACY}/add/demo`, moved)).status, 403);
  const groups = (await asSuper('GET', `${V3}/groups`)).body;
  t.same(groups.slice(0, groupsBefore.length), groupsBefore, 'nothing half done');
  t.match(groups.slice(groupsBefore.length), [{ sourceId: 'foreign' }]);
}

async function administersApps(t: Test, scene: Scene): Promise<void> {
  const { make, ask, asSuper, goals, sport, demo, secondApp } = scene;
  const byApp = await make({ scopes: ['admin', 'read'], appIds: [secondApp] });
  const made = await ask(byApp, 'POST', `${V3}/tags`, { name: 'its own', sourceId: 'own' });
  t.match(made, { status: 201, body: { appIds: [secondApp] } }, 'for the apps of its key');
  const own = `${V3}/tags/${made.body.id}`;
  const added = await ask(byApp, 'POST', `${LEGACY}/add/demo`, { tags: [{ name: 'too' }] });
  const too = `${V3}/tags/${added.body.tags[0].id}`;
  t.same((await asSuper('GET', too)).body.appIds, [secondApp]);
  await holds(t, scene, byApp, [
    ['PATCH', own, { name: 'still its own', groupId: sport }, 200],
    ['PATCH', own, { appIds: null }, 403],
    ['PATCH', own, { appIds: [demo.appId] }, 403],
    ['PATCH', own, { appIds: [demo.appId, secondApp] }, 403],
    ['PATCH', `${V3}/tags/${goals}`, { appIds: [secondApp] }, 403],
    ['DELETE', `${V3}/tags/${goals}`, undefined, 403],
    ['POST', `${V3}/tags`, { name: 'x', appIds: [demo.appId] }, 403],
    ['POST', `${V3}/tags`, { name: 'x', appIds: null }, 403],
    ['POST', `${V3}/groups`, { name: 'x' }, 403],
    ['PATCH', `${V3}/groups/${sport}`, { name: 'x' }, 403],
    ['GET', own, undefined, 200],
    ['GET', `${V3}/tags/${goals}`, undefined, 200],
    ['DELETE', own, undefined, 204],
    ['DELETE', too, undefined, 204],
  ]);
  const both = await make({ scopes: ['admin'], appIds: [secondApp], groupIds: [sport] });
  await holds(t, scene, both, [
    ['POST', `${V3}/tags`, { name: 'x' }, 403],
    ['POST', `${V3}/tags`, { name: 'x', groupId: sport, appIds: [demo.appId] }, 403],
    ['POST', `${V3}/tags`, { name: 'x', groupId: sport }, 201],
  ]);
}

async function readsSome(t: Test, scene: Scene): Promise<void> {
  const { make, ask, asSuper, goals, cup, news, sport, football, demo, secondApp } = scene;
  await asSuper('PATCH', `${V3}/tags/${news}`, { appIds: [demo.appId] });
  const idsOf = async (token: string, path: string) => {
    const { status, body } = await ask(token, 'GET', `${V3}/${path}`);
    t.equal(status, 200, path);
    return body.map(({ id }: { id: number }) => id);
  };
  const groupsOfAll = (await asSuper('GET', `${V3}/groups`)).body.length;
  const byTag = await make({ scopes: ['read'], tagIds: [goals] });
  t.same(await idsOf(byTag, 'tags'), [goals]);
  t.same(await idsOf(byTag, 'tags?q=cup'), []);
  t.same(await idsOf(byTag, 'groups'), []);
  const byGroup = await make({ scopes: ['read'], groupIds: [sport], tagIds: [goals] });
  const read = await idsOf(byGroup, 'tags');
  t.ok(read.includes(goals) && read.includes(cup) && !read.includes(news));
  const groups = await idsOf(byGroup, 'groups');
  t.ok(groups.includes(sport) && groups.includes(football) && groups.length < groupsOfAll);
  const byApp = await make({ scopes: ['read'], appIds: [secondApp] });
  const ofApp = await idsOf(byApp, 'tags');
  t.ok(ofApp.includes(goals) && !ofApp.includes(news), 'news are for another app');
  t.equal((await idsOf(byApp, 'groups')).length, groupsOfAll);
  await holds(t, scene, byTag, [
    ['GET', `${V3}/tags/${cup}`, undefined, 403],
    ['GET', `${V3}/groups/${sport}`, undefined, 403],
    ['GET', `${V3}/groups/99999`, undefined, 404],
    ['GET', `${V3}/removals`, undefined, 403],
  ]);
  await holds(t, scene, byApp, [
    ['GET', `${V3}/tags/${news}`, undefined, 403],
    ['GET', `${LEGACY}/id/${news}/demo`, undefined, 403],
    ['GET', `${LEGACY}/id/${goals}/demo`, undefined, 200],
    ['GET', `${V3}/groups/${sport}`, undefined, 200],
    ['GET', `${V3}/removals`, undefined, 403],
  ]);
  t.equal((await ask(await make({ scopes: ['read'] }), 'GET', `${V3}/removals`)).status, 200);
  await asSuper('PATCH', `${V3}/tags/${news}`, { appIds: null });
}

async function pages(t: Test, { asSuper, keys, make }: Scene): Promise<void> {
  await make({ scopes: ['read'] });
  const all = (await asSuper('GET', keys)).body;
  t.ok(all.length > 3);
  const seen: unknown[] = [];
  let next: string | undefined = `${keys}?limit=3`;
  while (next !== undefined) {
    const { body, headers }: Answer = await asSuper('GET', next);
    t.ok(body.length <= 3);
    seen.push(...body);
    next = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
  }
  const without = (key: { lastUsedAt?: number }) => ({ ...key, lastUsedAt: undefined });
  t.same((seen as { lastUsedAt?: number }[]).map(without), all.map(without));
  t.match(await asSuper('GET', `${keys}?limt=3`), {
    status: 400,
    body: { errors: [{ path: 'limt', message: /nearest is limit/ }] },
  });
}

async function refusals(t: Test, { asSuper, keys, other, goals }: Scene): Promise<void> {
  const faults: readonly (readonly [terms: object, path: string])[] = [
    [{ scopes: ['send'], name: undefined }, 'name'],
    [{ scopes: ['send'], name: '' }, 'name'],
    [{ scopes: [] }, 'scopes'],
    [{ scopes: ['write'] }, 'scopes.0'],
    [{ scopes: ['send'], tagIds: [] }, 'tagIds'],
    [{ scopes: ['send'], tagIds: [goals, 99_999] }, 'tagIds.1'],
    [{ scopes: ['send'], tagSourceIds: ['nobody'] }, 'tagSourceIds.0'],
    [{ scopes: ['send'], groupSourceIds: ['nobody'] }, 'groupSourceIds.0'],
    [{ scopes: ['send'], groupIds: [99_999] }, 'groupIds.0'],
    [{ scopes: ['send'], appIds: [other.appId] }, 'appIds.0'],
    [{ scopes: ['send'], maxDevices: 0 }, 'maxDevices'],
    [{ scopes: ['send'], expiresAt: 1_700_000_000 }, 'expiresAt'],
    [{ scopes: ['send'], expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
    [{ scopes: ['send'], tagId: [goals] }, 'tagId'],
  ];
  for (const [terms, path] of faults) {
    const { status, body } = await asSuper('POST', keys, { name: 'CMS', ...terms });
    t.match({ status, body }, { status: 400, body: { errors: [{ path }] } }, JSON.stringify(terms));
  }
  for (const id of ['0', '99999', 'x', '99999999999']) {
    t.equal((await asSuper('DELETE', `${keys}/${id}`)).status, 404, id);
  }
}
