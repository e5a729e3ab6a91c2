/** Tags as resources of the Admin API, over real HTTP on every store. */

import type { Test } from 'tap';
import t from 'tap';
import { tagGroupResourceRoutes } from '../../../src/catalogue/routes/tag-group-resources.ts';
import { tagResourceRoutes } from '../../../src/catalogue/routes/tag-resources.ts';
import { insertApp } from '../../../src/catalogue/sql/insert-app.ts';
import type { Store } from '../../../src/database/store.ts';
import { makeKey } from '../../support/keys.ts';
import type { Answer, Resources } from '../../support/resources.ts';
import { openResources, pathsOf } from '../../support/resources.ts';
import { withStores } from '../../support/store.ts';

interface Scene extends Resources {
  readonly store: Store;
  readonly secondApp: number;
  /** The tags that were reported as disconnected. */
  readonly disconnected: readonly number[];
  version(): Promise<number>;
}

async function open(t: Test, store: Store, slug: string): Promise<Scene> {
  const disconnected: number[] = [];
  const { patientReads, sql } = store;
  const onDisconnected = (tagId: number): void => {
    disconnected.push(tagId);
  };
  const resources = await openResources(t, store, slug, [
    ...tagResourceRoutes({ sql, patientReads, onDisconnected, takeOff: async () => undefined }),
    ...tagGroupResourceRoutes({ sql, patientReads }),
  ]);
  const { clientId } = resources.tenant;
  return {
    ...resources,
    store,
    secondApp: await insertApp(sql, { clientId, name: 'Second', platformIds: [3] }),
    disconnected,
    async version() {
      const [row] = await sql<{ version: number }[]>`
        select catalogue_version as version from clients where id = ${clientId}`;
      return row?.version ?? -1;
    },
  };
}

const scenes: Record<string, (t: Test, scene: Scene) => Promise<void>> = {
  'made, read, changed, deleted': async (t, { ask, version }) => {
    const group = (await ask('POST', 'groups', { name: 'Clubs', sourceId: 'clubs' })).body.id;
    const fields = {
      name: 'Goals',
      sourceId: 'goals',
      groupId: group,
      groupSourceId: 'clubs',
      expiration: 4_102_444_800_000,
      tagOptionalParameters: { visible: 'false' },
    };
    const before = await version();
    const made = await ask('POST', 'tags', { ...fields, groupId: undefined });
    t.equal(made.status, 201);
    const { id } = made.body;
    t.same(made.body, { ...fields, id });
    t.ok((await version()) > before);
    const path = `tags/${id}`;
    t.same((await ask('GET', path)).body, made.body);
    t.same((await ask('GET', 'tags')).body, [made.body]);

    const now = await version();
    t.same((await ask('PATCH', path, {})).body, made.body);
    t.same((await ask('PATCH', path, made.body)).body, made.body, 'what was answered, sent back');
    t.equal(await version(), now, 'what changes nothing empties no cache');
    const changed = await ask('PATCH', path, { name: 'Tore', groupId: null, expiration: null });
    t.same(changed.body, {
      id,
      name: 'Tore',
      sourceId: 'goals',
      tagOptionalParameters: { visible: 'false' },
    });
    t.ok((await version()) > now);
    await ask('PATCH', path, { groupSourceId: 'clubs', tagOptionalParameters: null });
    t.match((await ask('GET', path)).body, { groupId: group, groupSourceId: 'clubs' });

    const twice = await ask('POST', 'tags', { name: 'Another', sourceId: 'goals' });
    t.match(twice, { status: 409, body: { detail: /sourceId/, requestId: String } });
    const other = (await ask('POST', 'tags', { ...made.body, sourceId: 'other' })).body.id;
    t.not(other, id, 'an id in what is made is not looked at');
    t.equal((await ask('PATCH', `tags/${other}`, { sourceId: 'goals' })).status, 409);

    t.equal((await ask('DELETE', path)).status, 204);
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? {} : undefined;
      t.equal((await ask(method, path, body)).status, 404, method);
    }
    t.same(
      (await ask('GET', 'tags')).body.map((tag: { id: number }) => tag.id),
      [other],
    );
    t.equal((await ask('POST', 'tags', { name: 'Goals', sourceId: 'goals' })).status, 201);
  },

  'for some apps only': async (t, { ask, tenant, secondApp, disconnected, store }) => {
    const { appId } = tenant;
    const made = await ask('POST', 'tags', { name: 'a', appIds: [secondApp, `${appId}`, appId] });
    const path = `tags/${made.body.id}`;
    t.same(
      made.body.appIds,
      [appId, secondApp].sort((one, other) => one - other),
    );
    const every = (await ask('POST', 'tags', { name: 'b' })).body;
    t.notOk('appIds' in every);
    const idsFor = async (app: number) =>
      (await ask('GET', `tags?appId=${app}`)).body.map(({ id }: { id: number }) => id);

    t.same((await ask('PATCH', path, { name: 'A' })).body.appIds, made.body.appIds, 'kept');
    t.same(disconnected, []);
    t.same((await ask('PATCH', path, { appIds: [secondApp] })).body.appIds, [secondApp]);
    t.same(disconnected, [made.body.id]);
    t.same(await idsFor(appId), [every.id]);
    t.same(await idsFor(secondApp), [made.body.id, every.id]);
    t.notOk('appIds' in (await ask('PATCH', path, { appIds: null })).body);
    t.equal(disconnected.length, 1, 'connecting takes nothing away');
    await ask('PATCH', path, { appIds: [appId] });
    t.equal(disconnected.length, 2, 'from every app but one');
    const [row] = await store.sql`select app_ids as "appIds" from tags where id = ${made.body.id}`;
    t.same(row, { appIds: [appId] });

    for (const [appIds, paths] of [
      [[], ['appIds']],
      [[appId, 99_999], ['appIds']],
      [appId, ['appIds']],
      [['x'], ['appIds.0']],
    ] as const) {
      for (const [method, to] of [
        ['POST', 'tags'],
        ['PATCH', path],
      ] as const) {
        const answer = await ask(method, to, { name: 'x', appIds });
        t.equal(answer.status, 400);
        t.same(pathsOf(answer), paths, `${method} ${JSON.stringify(appIds)}`);
      }
    }
    t.equal((await ask('GET', 'tags?appId=99999')).status, 400, 'no app of this client');
  },

  'what is not valid is said, and nothing happens': async (t, { ask, version }) => {
    const { id } = (await ask('POST', 'tags', { name: 'good', sourceId: 'good' })).body;
    const group = (await ask('POST', 'groups', { name: 'g', sourceId: 'g' })).body.id;
    const other = (await ask('POST', 'groups', { name: 'h', sourceId: 'h' })).body.id;
    const before = await version();
    const faults: readonly (readonly [fields: object, path: string])[] = [
      [{ name: null }, 'name'],
      [{ name: '' }, 'name'],
      [{ name: 'x'.repeat(256) }, 'name'],
      [{ sourceId: 7 }, 'sourceId'],
      [{ groupId: 99_999 }, 'groupId'],
      [{ groupId: id }, 'groupId'],
      [{ groupSourceId: 'nowhere' }, 'groupSourceId'],
      [{ groupId: group, groupSourceId: 'h' }, 'groupSourceId'],
      [{ groupId: null, groupSourceId: 'h' }, 'groupSourceId'],
      [{ expiration: 1_800_000_000 }, 'expiration'],
      [{ expiration: '2027-02-30T10:00:00Z' }, 'expiration'],
      [{ tagOptionalParameters: { a: 1 } }, 'tagOptionalParameters.a'],
      [{ expires: 4_102_444_800_000 }, 'expires'],
      [{ group: other }, 'group'],
    ];
    for (const [fields, path] of faults) {
      for (const [method, to] of [
        ['POST', 'tags'],
        ['PATCH', `tags/${id}`],
      ] as const) {
        const answer = await ask(method, to, { name: 'x', ...fields });
        t.equal(answer.status, 400, method);
        t.same(pathsOf(answer), [path], `${method} ${JSON.stringify(fields).slice(0, 60)}`);
      }
    }
    t.match((await ask('POST', 'tags', { name: 'x', group: 1 })).body.errors, [
      { path: 'group', message: /nearest is groupId/ },
    ]);
    t.same(pathsOf(await ask('POST', 'tags', {})), ['name']);
    t.same(pathsOf(await ask('PATCH', `tags/${id}`, { id: id + 1 })), ['id']);
    t.equal((await ask('POST', 'tags', [])).status, 400);
    t.equal(await version(), before);
    for (const path of [
      'tags/0',
      'tags/x',
      'tags/99999999999',
      'tags/2147483647',
      `tags/${group}`,
    ]) {
      for (const method of ['GET', 'PATCH', 'DELETE']) {
        const { status } = await ask(method, path, method === 'PATCH' ? {} : undefined);
        t.equal(status, 404, `${method} ${path}`);
      }
    }
  },

  'found by text, group, sourceId and app, together too': async (t, { ask, secondApp }) => {
    const group = (await ask('POST', 'groups', { name: 'g' })).body.id;
    const below = (await ask('POST', 'groups', { name: 'below', parentId: group })).body.id;
    const make = async (fields: object) => (await ask('POST', 'tags', fields)).body.id;
    const goals = await make({ name: 'Goals 100%', sourceId: 'goals_x', groupId: group });
    const cup = await make({ name: 'Cup', sourceId: 'GOAL-cup', appIds: [secondApp] });
    const news = await make({ name: 'News', groupId: group, appIds: [secondApp] });
    const plain = await make({ name: 'ÖSTERREICH' });
    const deep = await make({ name: 'Deep', groupId: below });
    const found = async (query: string) =>
      (await ask('GET', `tags?${query}`)).body.map(({ id }: { id: number }) => id);
    for (const [query, ids] of [
      ['', [goals, cup, news, plain, deep]],
      ['q=', [goals, cup, news, plain, deep]],
      ['q=goal', [goals, cup]],
      ['q=GOAL', [goals, cup]],
      ['q=%25', [goals]],
      ['q=_', [goals]],
      [`q=${encodeURIComponent('öst')}`, [plain]],
      ['q=sterr', [plain]],
      ['q=nothing', []],
      [`groupId=${group}`, [goals, news]],
      [`groupId=${group}&withGroupsBelow=true`, [goals, news, deep]],
      [`groupId=${below}&withGroupsBelow=true`, [deep]],
      ['groupId=0&withGroupsBelow=true', [cup, plain]],
      ['groupId=0', [cup, plain]],
      ['groupId=99999', []],
      ['sourceId=GOAL-cup', [cup]],
      ['sourceId=goal', []],
      [`appId=${secondApp}`, [goals, cup, news, plain, deep]],
      [`groupId=${group}&q=new&appId=${secondApp}`, [news]],
      [`groupId=${group}&limit=1`, [goals]],
      [`ids=${plain},${goals},99999`, [goals, plain]],
      [`ids=${plain},${goals}&q=goal`, [goals]],
    ] as const) {
      t.same(await found(query), ids, query);
    }
    for (const [query, path] of [
      ['limit=0', 'limit'],
      ['limit=1001', 'limit'],
      ['limit=x', 'limit'],
      ['limit=1&limit=2', 'limit'],
      ['cursor=x', 'cursor'],
      ['cursor=1.2', 'cursor'],
      ['cursor=99999999999', 'cursor'],
      ['groupId=-1', 'groupId'],
      ['appId=0', 'appId'],
      ['group=1', 'group'],
      [`q=${'x'.repeat(256)}`, 'q'],
      ['sourceId=%00', 'sourceId'],
      ['ids=1,x', 'ids'],
      [`ids=${'1,'.repeat(200)}1`, 'ids'],
      ['withDevices=yes', 'withDevices'],
      ['withDevices=true', 'limit'],
      ['withDevices=true&limit=101', 'limit'],
    ] as const) {
      const answer = await ask('GET', `tags?${query}`);
      t.equal(answer.status, 400, query);
      t.same(pathsOf(answer), [path], query);
    }
    t.match((await ask('GET', 'tags?group=1')).body.errors, [{ message: /nearest is groupId/ }]);
  },

  'with their devices, in the apps that the caller may see': async (t, scene) => {
    const { ask, tenant, secondApp, store } = scene;
    const [goals, none] = [
      (await ask('POST', 'tags', { name: 'Goals' })).body.id,
      (await ask('POST', 'tags', { name: 'Nobody' })).body.id,
    ];
    await store.sql`
      insert into tag_days (tag_id, app_id, platform_id, day, slot, subscribed, unsubscribed)
      values (${goals}, ${tenant.appId}, 3, '-infinity', 0, 9, 2),
        (${goals}, ${tenant.appId}, 15, '2026-11-01', 0, 4, 1),
        (${goals}, ${secondApp}, 3, '2026-11-02', 1, 5, 0)`;
    const counted = async (token?: string) =>
      (await ask('GET', 'tags?withDevices=true&limit=100', undefined, token)).body.map(
        ({ id, devices }: { id: number; devices?: number }) => [id, devices],
      );
    t.same(await counted(), [
      [goals, 15],
      [none, 0],
    ]);
    const limited = await makeKey(store.sql, tenant, { scopes: ['read'], appIds: [secondApp] });
    t.same(await counted(limited), [
      [goals, 5],
      [none, 0],
    ]);
    t.notOk('devices' in (await ask('GET', 'tags?limit=1')).body[0]);
  },

  'pages stay right while rows come and go': async (t, { ask, walk, store, tenant }) => {
    const { sql } = store;
    await sql`
      insert into tags (client_id, name, source_id)
      select ${tenant.clientId}, 'n' || n, 's' || n from generate_series(1, 60) as n`;
    const all = (await ask('GET', 'tags')).body;
    t.equal(all.length, 60);
    const stays = new Set<number>(all.filter((_: unknown, at: number) => at % 3 !== 0).map(idOf));
    const goes: number[] = all.filter((_: unknown, at: number) => at % 3 === 0).map(idOf);
    let made = 0;
    const seen = (await walk('tags', 7, async () => {
      // Taken from both ends, before and after the cursor.
      for (const id of [goes.shift(), goes.pop()]) {
        if (id !== undefined) t.equal((await ask('DELETE', `tags/${id}`)).status, 204);
      }
      made += 1;
      if (made <= 20) t.equal((await ask('POST', 'tags', { name: `new ${made}` })).status, 201);
    })) as readonly { id: number }[];
    const ids = seen.map(idOf);
    t.equal(new Set(ids).size, ids.length, 'none twice');
    t.same(
      ids.filter((id) => stays.has(id)),
      [...stays],
      'each that was there all the time, in order',
    );
  },

  'the Link keeps what was asked for': async (t, { ask, walk }) => {
    for (let n = 0; n < 5; n += 1) await ask('POST', 'tags', { name: `a&b ${n}` });
    await ask('POST', 'tags', { name: 'other' });
    const first = await ask('GET', 'tags?q=A%26b&limit=2');
    t.match(
      first.headers.get('link'),
      /^<\/push-admin-api\/v3\/[^?]+\?q=A%26b&limit=2&cursor=\d+>; rel="next"$/,
    );
    t.equal((await walk('tags?q=a%26B', 2)).length, 5);
    t.equal((await walk('tags?q=a%26B', 5)).length, 5, 'a page that is full is the last one');
    t.equal((await ask('GET', 'tags?q=a%26B&limit=5')).headers.get('link'), null);
  },

  'another client has other tags': async (t, { ask, store, tenant }) => {
    const [row] = await store.sql<{ id: number }[]>`
      with other as (insert into clients (slug, name) values (${`${tenant.slug}-x`}, 'x') returning id),
      app as (insert into apps (client_id, name) select id, 'a' from other returning id)
      insert into tags (client_id, name, source_id) select id, 'theirs', 'theirs' from other returning id`;
    const id = row?.id ?? 0;
    t.same((await ask('GET', 'tags')).body, []);
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const { status } = await ask(method, `tags/${id}`, method === 'PATCH' ? {} : undefined);
      t.equal(status, 404, method);
    }
    t.equal((await ask('POST', 'tags', { name: 'mine', sourceId: 'theirs' })).status, 201);
    const [app] = await store.sql<{ id: number }[]>`select max(id) as id from apps`;
    t.same(pathsOf(await ask('POST', 'tags', { name: 'x', appIds: [app?.id] })), ['appIds']);
  },

  '100,000 tags: listed whole and by pages, found, and no more than that': async (t, scene) => {
    const { ask, walk, store, tenant } = scene;
    await store.sql`
      insert into tags (client_id, name, source_id)
      select ${tenant.clientId}, 'name ' || n, 's' || n from generate_series(1, 99999) as n`;
    t.equal((await ask('POST', 'tags', { name: 'the last' })).status, 201);
    const full: Answer = await ask('POST', 'tags', { name: 'one more' });
    t.match(full, {
      status: 403,
      body: { detail: /100000 tags.*Delete some/ },
    });
    const all = (await ask('GET', 'tags')).body as { id: number; name: string }[];
    t.equal(all.length, 100_000);
    t.equal(new Set(all.map(idOf)).size, 100_000);
    t.equal((await walk('tags', 1_000)).length, 100_000);
    t.match((await ask('GET', 'tags?q=name%2099999&limit=10')).body, [{ sourceId: 's99999' }]);
    t.match((await ask('GET', 'tags?sourceId=s77777')).body, [{ name: 'name 77777' }]);
    t.equal((await ask('DELETE', `tags/${all[0]?.id}`)).status, 204);
    t.equal((await ask('POST', 'tags', { name: 'one more' })).status, 201);
  },
};

const idOf = ({ id }: { readonly id: number }): number => id;

t.test('on every store', async (t) => {
  await withStores(t, async (t, store) => {
    for (const [index, [name, play]] of Object.entries(scenes).entries()) {
      await t.test(name, async (t) => play(t, await open(t, store, `demo-${index}`)));
    }
  });
});
