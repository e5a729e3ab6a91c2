/**
 * Bulk operations asked for over real HTTP on every store: what is accepted, what is refused, and
 * who may.
 */

import type { Test } from 'tap';
import t from 'tap';
import { GivenAttributes } from '../../../src/attributes/given-attributes.ts';
import { tagResourceRoutes } from '../../../src/catalogue/routes/tag-resources.ts';
import { insertApp } from '../../../src/catalogue/sql/insert-app.ts';
import type { Store } from '../../../src/database/store.ts';
import { BulkOperations } from '../../../src/devices/bulk/bulk-operations.ts';
import { bulkRequestRoutes } from '../../../src/devices/routes/bulk-requests.ts';
import { bulkResourceRoutes } from '../../../src/devices/routes/bulk-resources.ts';
import {
  BULK_DEVICES_MAX,
  BULK_OPEN_PER_CLIENT_MAX,
  BULK_TAGS_MAX,
} from '../../../src/domain/bulk-operation.ts';
import { NO_FEED } from '../../../src/tag-index/tag-index.ts';
import { addTenant } from '../../support/api.ts';
import { silent } from '../../support/app-api.ts';
import { runAll } from '../../support/bulk-operations.ts';
import { makeKey } from '../../support/keys.ts';
import { makeTag } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { openResources, pathsOf } from '../../support/resources.ts';
import { seedDevices } from '../../support/seed.ts';

const TOKEN = 'AB'.repeat(32);

async function open(t: Test, store: Store) {
  const { sql, patientReads } = store;
  // The schema puts it there, and each test begins with every table empty.
  await sql`insert into access_revision default values on conflict do nothing`;
  const resources = await openResources(t, store, 'acme', [
    ...bulkRequestRoutes({ sql, patientReads, attributes: new GivenAttributes({ sql }) }),
    ...bulkResourceRoutes(sql),
    ...tagResourceRoutes({
      sql,
      patientReads,
      onDisconnected: () => undefined,
      takeOff: async () => undefined,
    }),
  ]);
  const { ask, tenant } = resources;
  const { appId, clientId } = tenant;
  const news = await makeTag(sql, clientId, { sourceId: 'news' });
  const node = new BulkOperations({ sql, feed: NO_FEED, log: silent, tagsPerDeviceMax: 5_000 });
  return {
    ...resources,
    appId,
    clientId,
    news,
    subscriptions: (body: object, token?: string, platformId = 3) =>
      ask('POST', `apps/${appId}/platforms/${platformId}/subscriptions`, body, token),
    members: (tagId: number, body: object, token?: string) =>
      ask('POST', `tags/${tagId}/members`, body, token),
    async work() {
      await runAll(sql, node);
    },
  };
}

const list = { action: 'subscribe', tagSourceIds: ['news'], deviceIds: [TOKEN] };

await onEachStore(t, {
  'a list and the members of a tag: accepted, watched, done': async (t, store) => {
    const { sql } = store;
    const { ask, appId, clientId, news, subscriptions, members, work } = await open(t, store);
    const fresh = await makeTag(sql, clientId, { sourceId: 'news-2027' });
    const deviceIds = [TOKEN.toLowerCase()];
    await seedDevices(sql, { appId, platformId: 3, tagIds: [], count: 1, deviceIds });
    const accepted = await subscriptions({
      ...list,
      tagIds: [String(news)],
      deviceIds: [TOKEN, TOKEN.toLowerCase(), 'nobody'],
    });
    t.equal(accepted.status, 202);
    const { id, acceptedAt, ...rest } = accepted.body;
    t.equal(accepted.headers.get('location'), `/push-admin-api/v3/acme/operations/${id}`);
    t.ok(Math.abs(acceptedAt - Date.now()) < 600_000);
    const counts = { done: 0, changed: 0, unchanged: 0, unknown: 0, full: 0, refused: 0 };
    t.same(rest, {
      action: 'subscribe',
      state: 'QUEUED',
      userName: rest.userName,
      appId,
      platformId: 3,
      tagIds: [news],
      total: 2,
      ...counts,
    });
    await work();
    const after = await ask('GET', `operations/${id}`);
    t.match(after.body, { state: 'FINISHED', done: 2, changed: 1, unknown: 1, endedAt: Number });

    const moved = await members(news, { action: 'move', toTagSourceId: 'news-2027' });
    t.equal(moved.status, 202);
    t.match(moved.body, { action: 'move', tagId: news, toTagId: fresh, total: 1 });
    const removed = await members(fresh, { action: 'remove' });
    t.match(removed.body, { action: 'remove', tagId: fresh, total: 0 });
    t.notOk('toTagId' in removed.body);
    await work();
    t.match((await ask('GET', `operations/${moved.body.id}`)).body, { changed: 1 });
    t.match((await ask('GET', `operations/${removed.body.id}`)).body, { changed: 1, done: 1 });
    const unsubscribed = await subscriptions({ ...list, action: 'unsubscribe' });
    await work();
    t.match((await ask('GET', `operations/${unsubscribed.body.id}`)).body, { unchanged: 1 });
  },

  'what is not valid is said': async (t, store) => {
    const { sql } = store;
    const { ask, appId, clientId, news, subscriptions, members } = await open(t, store);
    const other = await addTenant(sql, 'other');
    const foreign = await makeTag(sql, other.clientId, { sourceId: 'theirs' });
    const second = await insertApp(sql, { clientId, name: 'Second', platformIds: [3] });
    await makeTag(sql, clientId, { sourceId: 'second', appIds: [second] });
    const old = await makeTag(sql, clientId, { sourceId: 'old', expiresAtMs: 1_000_000_000_000 });
    const many = (count: number) => Array.from({ length: count }, (_, n) => `d${n}`);
    for (const [body, paths] of [
      [{}, ['action', 'deviceIds']],
      [{ ...list, action: 'toggle' }, ['action']],
      [{ action: 'subscribe', deviceIds: [TOKEN] }, ['']],
      [{ ...list, tagSourceIds: [] }, ['tagSourceIds']],
      [{ ...list, tagIds: many(BULK_TAGS_MAX + 1).map((_, n) => n + 1) }, ['tagIds']],
      [{ ...list, tagIds: many(BULK_TAGS_MAX).map((_, n) => n + 1) }, ['']],
      [{ ...list, deviceIds: [] }, ['deviceIds']],
      [{ ...list, deviceIds: many(BULK_DEVICES_MAX + 1) }, ['deviceIds']],
      [{ ...list, deviceIds: ['', 'x'.repeat(4_097)] }, ['deviceIds.0', 'deviceIds.1']],
      [{ ...list, deviceId: TOKEN }, ['deviceId']],
      [{ ...list, tagSourceIds: ['news', 'theirs'] }, ['tagSourceIds.1']],
      [{ ...list, tagIds: [foreign] }, ['tagIds.0']],
      [{ ...list, tagSourceIds: ['second', 'old'] }, ['tagSourceIds.0', 'tagSourceIds.1']],
    ] as const) {
      const answer = await subscriptions(body);
      t.equal(answer.status, 400, JSON.stringify(body).slice(0, 60));
      t.same(pathsOf(answer), paths, JSON.stringify(body).slice(0, 60));
    }
    t.equal((await subscriptions(list, undefined, 7)).status, 404, 'not on this platform');
    const elsewhere = `apps/${other.appId}/platforms/3/subscriptions`;
    t.equal((await ask('POST', elsewhere, list)).status, 404, "another client's app");
    const unsubscribe = { ...list, action: 'unsubscribe', tagSourceIds: ['second', 'old'] };
    t.equal((await subscriptions(unsubscribe)).status, 202, 'who opts out may of any tag');
    t.equal((await subscriptions({ ...list, deviceIds: many(BULK_DEVICES_MAX) })).status, 202);

    for (const [body, paths] of [
      [{}, ['action']],
      [{ action: 'move' }, ['']],
      [{ action: 'remove', toTagId: news }, ['']],
      [{ action: 'copy', toTagId: news, toTagSourceId: 'news' }, ['']],
      [{ action: 'copy', toTagId: news }, ['toTagId']],
      [{ action: 'copy', toTagId: foreign }, ['toTagId']],
      [{ action: 'copy', toTagSourceId: 'old' }, ['toTagSourceId']],
    ] as const) {
      const answer = await members(news, body);
      t.equal(answer.status, 400, JSON.stringify(body));
      t.same(pathsOf(answer), paths, JSON.stringify(body));
    }
    t.equal((await members(foreign, { action: 'remove' })).status, 404);
    t.equal((await members(old, { action: 'move', toTagId: news })).status, 202, 'from an old one');
    t.same(
      (await ask('GET', 'operations')).body.map(({ action }: { action: string }) => action),
      ['move', 'subscribe', 'unsubscribe'],
      'what was refused is none',
    );
    t.ok(appId !== second);
  },

  'listed by pages, newest first; cancelled; so many at once and no more': async (t, store) => {
    const { sql } = store;
    const { ask, walk, subscriptions, work, appId } = await open(t, store);
    const ids: number[] = [];
    for (let n = 0; n < 5; n += 1) ids.unshift((await subscriptions(list)).body.id);
    const idOf = (row: unknown) => (row as { readonly id: number }).id;
    t.same((await walk('operations', 2)).map(idOf), ids);
    t.same((await ask('GET', 'operations')).body.map(idOf), ids, 'without a limit');
    t.equal((await ask('GET', 'operations?state=QUEUED')).status, 400);
    const other = await openResources(t, store, 'other', bulkResourceRoutes(sql));
    const [newest] = ids;
    t.same((await other.ask('GET', 'operations')).body, []);
    for (const id of [newest, 'x', 2_147_483_647, 0]) {
      t.equal((await other.ask('GET', `operations/${id}`)).status, 404);
      t.equal((await other.ask('POST', `operations/${id}/cancel`)).status, 404);
    }
    const cancelled = await ask('POST', `operations/${newest}/cancel`);
    t.equal(cancelled.status, 200);
    t.match(cancelled.body, { id: newest, state: 'CANCELLED', done: 0, endedAt: Number });
    t.equal((await ask('POST', `operations/${newest}/cancel`)).status, 200, 'again');
    await work();
    t.equal((await ask('POST', `operations/${ids[1]}/cancel`)).status, 409);

    await sql`
      insert into bulk_operations (client_id, user_name, action, subscribe_tag_ids, unsubscribe_tag_ids, app_id, platform_id, device_keys, total)
      select client_id, 'test', 'subscribe', '{1}', '{}', ${appId}, 3, array[gen_random_uuid()], 1
      from bulk_operations, generate_series(1, ${BULK_OPEN_PER_CLIENT_MAX - 1}::integer) where id = ${newest ?? 0}`;
    t.equal((await subscriptions(list)).status, 202);
    const refused = await subscriptions(list);
    t.equal(refused.status, 429);
    t.ok(refused.headers.get('retry-after'));
    await work();
    t.equal((await subscriptions(list)).status, 202);
  },

  'a tag is not deleted while an operation on its members has not ended': async (t, store) => {
    const { sql } = store;
    const { ask, clientId, news, subscriptions, members, work } = await open(t, store);
    const fresh = await makeTag(sql, clientId, { sourceId: 'fresh' });
    await subscriptions(list);
    const first = await members(news, { action: 'copy', toTagId: fresh });
    const second = await members(news, { action: 'move', toTagId: fresh });
    const refused = await ask('DELETE', `tags/${news}`);
    t.equal(refused.status, 409);
    t.match(refused.body.detail, new RegExp(`^Operation ${first.body.id} still needs`));
    await ask('POST', `operations/${first.body.id}/cancel`);
    t.match((await ask('DELETE', `tags/${news}`)).body.detail, `Operation ${second.body.id} `);
    t.equal((await ask('DELETE', `tags/${fresh}`)).status, 204, 'the new one may go');
    await work();
    t.equal((await ask('DELETE', `tags/${news}`)).status, 204);
  },

  'a key is held to its scopes, tags and apps; with limits it sees its own': async (t, store) => {
    const { sql } = store;
    const { ask, appId, clientId, tenant, news, subscriptions, members } = await open(t, store);
    const second = await insertApp(sql, { clientId, name: 'Second', platformIds: [3] });
    const own = await makeTag(sql, clientId, { sourceId: 'own' });
    const ofApp = await makeTag(sql, clientId, { sourceId: 'of-app', appIds: [appId] });
    const ofApp2 = await makeTag(sql, clientId, { sourceId: 'of-app-2', appIds: [appId] });
    const key = (rights: Partial<Parameters<typeof makeKey>[2]>) =>
      makeKey(sql, tenant, { scopes: ['read', 'admin'], ...rights });
    const reader = await key({ scopes: ['read'] });
    const sender = await key({ scopes: ['send'] });
    const ofTag = await key({ tagIds: [own] });
    const ofFirst = await key({ appIds: [appId] });
    const ofSecond = await key({ appIds: [second] });
    const all = await key({});
    const status = async (asked: Promise<{ readonly status: number }>) => (await asked).status;
    const listOf = (tagId: number, token: string) =>
      status(subscriptions({ ...list, tagSourceIds: undefined, tagIds: [tagId] }, token));
    const move = (from: number, to: number, token: string) =>
      status(members(from, { action: 'move', toTagId: to }, token));

    t.equal(await listOf(news, all), 202);
    for (const token of [reader, sender]) {
      t.equal(await listOf(news, token), 403);
      t.equal(await move(news, own, token), 403);
    }
    t.equal(await listOf(own, ofTag), 202);
    t.equal(await listOf(news, ofTag), 403);
    t.equal(await listOf(news, ofFirst), 202, 'a tag of all apps, on devices of its own');
    t.equal(await listOf(news, ofSecond), 403);
    t.equal(await move(own, news, ofTag), 403);
    t.equal(await move(news, own, ofTag), 403);
    t.equal(await status(members(own, { action: 'remove' }, ofTag)), 202);
    t.equal(await move(ofApp, ofApp2, ofFirst), 202);
    t.equal(await move(news, ofApp, ofFirst), 403, 'devices of other apps have it too');
    t.equal(await move(ofApp, news, ofFirst), 403);

    const seen = async (token?: string) => (await ask('GET', 'operations', undefined, token)).body;
    t.equal((await seen()).length, 5);
    t.equal((await seen(reader)).length, 5);
    t.equal((await seen(ofTag)).length, 2);
    t.equal((await seen(ofSecond)).length, 0);
    const [{ id: theirs }] = await seen(ofFirst);
    t.equal(await status(ask('GET', `operations/${theirs}`, undefined, ofTag)), 404);
    t.equal(await status(ask('POST', `operations/${theirs}/cancel`, undefined, ofTag)), 404);
    t.equal(await status(ask('POST', `operations/${theirs}/cancel`, undefined, reader)), 403);
    t.equal(await status(ask('POST', `operations/${theirs}/cancel`, undefined, ofFirst)), 200);
  },
});
