/**
 * All that is known of a device, and its end: asked over real HTTP on every store. The device
 * registers with the App API.
 */

import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { createEraser } from '../../../src/devices/erase-device.ts';
import { deviceRef } from '../../../src/devices/operation.ts';
import { appDeviceRoutes } from '../../../src/devices/routes/app-devices.ts';
import { appApiRoutes } from '../../../src/devices/routes/routes.ts';
import { listExpectedSends } from '../../../src/push/sql/list-expected.ts';
import { planDue } from '../../../src/push/sql/notifications/plan-due.ts';
import { personalJobs } from '../../../src/push/sql/personal-jobs.ts';
import { NO_FEED } from '../../../src/tag-index/tag-index.ts';
import { addTenant } from '../../support/api.ts';
import { makeAppApi } from '../../support/app-api.ts';
import { declareAttribute } from '../../support/attributes.ts';
import { makeKey } from '../../support/keys.ts';
import { makeNotification, makeTag } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { openResources, pathsOf } from '../../support/resources.ts';

const TOKEN = 'AB'.repeat(32);
const STORED = TOKEN.toLowerCase();

async function open(t: Test, store: Store) {
  const { sql, patientReads } = store;
  // The schema puts it there, and each test begins with every table empty.
  await sql`insert into access_revision default values on conflict do nothing`;
  const eraseDevice = createEraser(sql, NO_FEED);
  const appApi = makeAppApi(store);
  t.teardown(() => appApi.registration.drain());
  const resources = await openResources(t, store, 'acme', [
    ...appDeviceRoutes({ sql, patientReads, eraseDevice, listExpectedSends, personalJobs }),
    ...appApiRoutes(appApi),
  ]);
  const { ask, tenant, baseUrl } = resources;
  const { appId, clientId, apiUser } = tenant;
  return {
    ...resources,
    appId,
    clientId,
    tagId: await makeTag(sql, clientId, { sourceId: 'news' }),
    async call(endpoint: string, body: object): Promise<string> {
      const answer = await fetch(`${baseUrl}/push-api/${endpoint}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${apiUser.token}` },
        body: JSON.stringify({ appId, platformId: 3, deviceId: TOKEN, ...body }),
      });
      return answer.text();
    },
    lookUp: (body: object, token?: string) =>
      ask('POST', `apps/${appId}/devices/lookup`, body, token),
    erase: (body: object, token?: string) =>
      ask('POST', `apps/${appId}/devices/erase`, body, token),
  };
}

const device = { platformId: 3, deviceId: TOKEN };

await onEachStore(t, {
  'events of a device that is gone are erased with a proof': async (t, store) => {
    const { erase, lookUp, appId } = await open(t, store);
    await store.sql`
      insert into device_events (device_key, app_id, platform_id, kind, reason)
      values (${deviceRef(appId, 3, STORED).deviceKey}::uuid, ${appId}, 3, 'removed', 'dead')`;
    t.match((await lookUp(device)).body, { registered: false });
    t.same((await erase(device)).body, { erased: true, deviceId: STORED });
    t.equal((await lookUp(device)).status, 404);
    t.same((await erase(device)).body, { erased: false }, 'again');
    const entries = await store.sql`select action from audit_entries`;
    t.same([...entries], [{ action: 'device.erase' }]);
  },

  'registered, looked up, erased with a proof, and unknown': async (t, store) => {
    const { call, lookUp, erase, tagId, clientId } = await open(t, store);
    t.equal((await lookUp(device)).status, 404);
    t.same((await erase(device)).body, { erased: false });

    const second = await makeTag(store.sql, clientId, {});
    t.equal(await call('reg', { tagId: [tagId, second], appVersion: '1.2' }), 'OK');
    const found = await lookUp(device);
    t.equal(found.headers.get('cache-control'), 'no-store');
    const { registeredAt, ...rest } = found.body;
    t.ok(Math.abs(registeredAt - Date.now()) < 600_000);
    const tags = [
      { id: tagId, name: 'Tag', sourceId: 'news' },
      { id: second, name: 'Tag' },
    ];
    const attributes = { appVersion: '1.2' };
    const firstRegisteredOn = new Date(registeredAt).toISOString().slice(0, 10);
    const facts = { firstRegisteredOn, refusals: 0 };
    const known = { deviceId: STORED, appVersion: '1.2', attributes, tags, ...facts };
    t.same(rest, { ...known, registered: true, pending: [], events: [], expected: [] });
    await store.sql`update tags set deleted_at = now() where id = ${second}`;
    t.same((await lookUp({ ...device, deviceId: STORED })).body.tags, tags.slice(0, 1));
    t.equal((await lookUp({ ...device, platformId: 15 })).status, 404, 'on the other platform');

    const erased = { ...known, erased: true, registeredAt, tags: tags.slice(0, 1) };
    t.same((await erase(device)).body, erased);
    t.equal((await lookUp(device)).status, 404);
    t.same((await erase(device)).body, { erased: false }, 'again');
    t.equal(await call('list', {}), '[]');
    const [left] = await store.sql<{ devices: number; subscribers: number }[]>`
      select (select count(*) from devices) as devices,
        (select sum(subscribed - unsubscribed) from tag_days where tag_id = ${tagId}) as subscribers`;
    t.same(left, { devices: 0, subscribers: 0 });

    t.equal(await call('reg', { tagId }), 'OK');
    t.match((await lookUp(device)).body, { tags: tags.slice(0, 1) }, 'it may come again');
  },

  'what a job still owes it, and what its provider said': async (t, store) => {
    const { sql } = store;
    const { call, lookUp, tagId, clientId, appId } = await open(t, store);
    await call('reg', { tagId });
    await call('ureg', { tagId });
    await sql`update devices set refusals = 1, refused_at = to_timestamp(1800000000), apns_environment = 'sandbox'`;
    t.match((await lookUp(device)).body, {
      tags: [],
      unsubscribedAt: Number,
      refusals: 1,
      refusedAt: 1_800_000_000_000,
      environment: 'sandbox',
    });
    await call('reg', { tagId });
    const job = await makeNotification(sql, { clientId, appId, tagId });
    await planDue(sql);
    await sql`
      insert into retries (notification_id, app_id, platform_id, ordinal, attempts, reason, due_at)
      select ${job}, app_id, platform_id, ordinal, 2, 'Shutdown', to_timestamp(1900000000) from devices`;
    await sql`
      insert into condemned_devices (notification_id, app_id, platform_id, ordinal, registered_before, is_refusal)
      select ${job}, app_id, platform_id, ordinal, now(), false from devices`;
    await sql`update notification_scopes set deletions = 'held'`;
    const { pending } = (await lookUp(device)).body;
    const retry = { kind: 'retry', reason: 'Shutdown', attempts: 2, dueAt: 1_900_000_000_000 };
    const byKind = (one: { kind: string }, other: { kind: string }) =>
      one.kind < other.kind ? -1 : 1;
    t.same(pending.sort(byKind), [
      { notificationId: job, kind: 'dead', held: true },
      { notificationId: job, ...retry },
    ]);
  },

  'what was sent before the device was gone, and came again, is unknown': async (t, store) => {
    const { sql } = store;
    const { call, lookUp, tagId, clientId, appId } = await open(t, store);
    await call('reg', { tagId });
    const job = await makeNotification(sql, { clientId, appId, tagId });
    await sql`update notifications set finished_at = now()`;
    const outcomes = async () => (await lookUp(device)).body.expected;
    t.match(await outcomes(), [{ notificationId: job, outcome: 'accepted' }]);
    await sql`
      insert into device_events (device_key, app_id, platform_id, kind, reason)
      values (${deviceRef(appId, 3, STORED).deviceKey}::uuid, ${appId}, 3, 'replaced', 'replaced')`;
    t.match(await outcomes(), [{ notificationId: job, outcome: 'unknown' }]);
  },

  'no key sees the sends that tell a personal value': async (t, store) => {
    const { sql } = store;
    const { call, lookUp, tagId, clientId, appId, tenant } = await open(t, store);
    const creed = { name: 'creed', type: 'text', isPersonal: true };
    const id = await declareAttribute(sql, clientId, creed);
    await call('reg', { tagId, attributes: { creed: 'gerbil' } });
    const job = await makeNotification(sql, { clientId, appId, tagId });
    const plain = await makeNotification(sql, { clientId, appId, tagId });
    const test = { subject: id, type: 'text', operator: '=', values: ['gerbil'] };
    await sql`update notifications set audience_condition = ${JSON.stringify(test)}::text::jsonb where id = ${job}`;
    const { deviceKey } = deviceRef(appId, 3, STORED);
    await sql`
      insert into device_events (device_key, app_id, platform_id, kind, notification_id, reason)
      values (${deviceKey}::uuid, ${appId}, 3, 'failed', ${job}, 'Shutdown')`;
    await sql`
      insert into condemned_devices (notification_id, app_id, platform_id, ordinal, registered_before, is_refusal)
      select ${job}, app_id, platform_id, ordinal, now(), false from devices`;
    await sql`update notification_scopes set deletions = 'held'`;
    const idsIn = (rows: readonly { readonly notificationId?: string }[]) =>
      rows.map(({ notificationId = null }) => notificationId);
    const seenBy = async (token?: string) => {
      const { expected, events, pending } = (await lookUp(device, token)).body;
      return [idsIn(expected), idsIn(events), idsIn(pending)];
    };
    const scopes = ['read', 'personal'] as const;
    t.same(await seenBy(), [[plain, job], [job], [job]]);
    t.same(await seenBy(await makeKey(sql, tenant, { scopes })), [[plain], [null], []]);
    await sql`delete from attributes where id = ${id}`;
    t.same(await seenBy(await makeKey(sql, tenant, { scopes })), [[plain], [null], []], 'deleted');
    await sql`delete from devices`;
    const gone = (await lookUp(device, await makeKey(sql, tenant, { scopes }))).body;
    t.same(idsIn(gone.events), [null], 'of one that is gone');
  },

  'what is not valid is said; whose app, and who may': async (t, store) => {
    const { ask, lookUp, erase, call, appId, tagId, tenant } = await open(t, store);
    await call('reg', { tagId });
    for (const [body, paths] of [
      [{}, ['platformId', 'deviceId']],
      [{ ...device, platformId: 7 }, ['platformId']],
      [{ ...device, deviceId: '' }, ['deviceId']],
      [{ ...device, deviceId: 'x'.repeat(4_097) }, ['deviceId']],
      [{ ...device, appId }, ['appId']],
    ] as const) {
      for (const answer of [await lookUp(body), await erase(body)]) {
        t.equal(answer.status, 400, JSON.stringify(body).slice(0, 60));
        t.same(pathsOf(answer), paths);
      }
    }
    const other = await addTenant(store.sql, 'other');
    for (const verb of ['lookup', 'erase']) {
      t.equal((await ask('POST', `apps/${other.appId}/devices/${verb}`, device)).status, 404);
    }
    const statuses = async (rights: Parameters<typeof makeKey>[2]) => {
      const token = await makeKey(store.sql, tenant, rights);
      return [(await lookUp(device, token)).status, (await erase(device, token)).status];
    };
    t.same(await statuses({ scopes: ['read'] }), [200, 403]);
    t.same(await statuses({ scopes: ['read', 'admin'], tagIds: [tagId] }), [403, 403]);
    t.same(await statuses({ scopes: ['read', 'admin'], appIds: [appId + 1] }), [403, 403]);
    t.same(await statuses({ scopes: ['read', 'admin'], appIds: [appId] }), [200, 200]);
    t.equal((await lookUp(device)).status, 404);
  },
});
