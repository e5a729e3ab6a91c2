import { randomUUID } from 'node:crypto';
import t from 'tap';
import { eraseDevices } from '../../../src/devices/erase-devices.ts';
import { deviceRef } from '../../../src/devices/operation.ts';
import type { Caller, KeyRights } from '../../../src/domain/caller.ts';
import { NO_ATTRIBUTES } from '../../../src/domain/device-attributes.ts';
import { statsAppRoute } from '../../../src/statistics/routes/stats-app.ts';
import { handle, makeAppApi, makeRequest } from '../../support/app-api.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { makeTenant } from '../../support/tenant.ts';

const PATH = '/push-admin-api/v3/:client/stats/app/:app';
const NO_LIMITS: KeyRights = {
  id: 1,
  scopes: ['read'],
  tagIds: null,
  groupIds: null,
  appIds: null,
  maxDevices: null,
};

await onEachStore(t, {
  'subscribers are devices with any tag; what was sent is what went to the app': async (
    t,
    store,
  ) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    const { appId, clientId, caller } = tenant;
    const second = await tenant.makeApp();
    const [goals = 0, news = 0] = await tenant.makeTags(2);
    const api = makeAppApi(store);
    const superUser: Caller = { ...caller, role: 'super-user', appId: null };
    const stats = async (app = appId) => {
      const request = makeRequest({ params: { client: 'acme', app: String(app) } });
      const response = await handle([statsAppRoute(store)], PATH, superUser, request);
      t.match(response, { status: 200, headers: { 'Content-Type': 'application/json' } });
      return JSON.parse(String(response.body));
    };
    t.same(await stats(), {
      app: { id: appId, name: 'App' },
      subscribers: 0,
      subscribersByApp: [
        { appId, platformId: 3, count: 0 },
        { appId, platformId: 15, count: 0 },
      ],
      notifications: 0,
      delivered: 0,
      failed: 0,
      lastNotificationAt: null,
      daily: [],
    });

    const today = new Date().toISOString().slice(0, 10);
    const nothing = { notifications: 0, delivered: 0, failed: 0, subscribed: 0, unsubscribed: 0 };
    /** Devices on platform 15, and what the day has of them by now. */
    const holds = async (count: number, subscribed: number, unsubscribed: number, when: string) =>
      t.match(
        await stats(),
        {
          subscribers: count,
          subscribersByApp: [{ count: 0 }, { platformId: 15, count }],
          daily: [{ ...nothing, date: today, subscribed, unsubscribed }],
        },
        when,
      );
    const call = (endpoint: string, deviceId: string, more: object = {}) =>
      api.call(endpoint, caller, { appId, platformId: 15, deviceId, ...more });
    await call('reg', 'a', { tagId: [goals, news] });
    await call('reg', 'b', { tagId: goals });
    await call('reg', 'c', { tagId: [] });
    await holds(2, 2, 0, 'a device without tags is no subscriber');
    await call('reg', 'b', { tagId: news });
    await call('ureg', 'a', { tagId: goals });
    await call('set', 'a', { tagId: goals });
    await holds(2, 2, 0, 'other tags make no difference');
    await call('ureg', 'a');
    await holds(1, 2, 1, 'the last tag does');
    await call('reg', 'a', { tagId: goals });
    await call('reg', 'd', { tagId: [goals, news] });
    await holds(3, 4, 1, 'once more');
    const replace = (device: string, by: string) =>
      api.replacements.submit({
        device: deviceRef(appId, 15, device),
        by: deviceRef(appId, 15, by),
        attributes: NO_ATTRIBUTES,
      });
    t.match(await replace('d', 'e'), { outcome: 'moved' });
    await holds(3, 4, 1, 'another token');
    t.match(await replace('e', 'c'), { outcome: 'merged' });
    await holds(3, 4, 1, 'one becomes a subscriber as the other one ends');
    t.match(await replace('c', 'a'), { outcome: 'merged' });
    await holds(2, 4, 2, 'of two subscribers one is left');
    const [b] = await sql<{ appId: number; platformId: number; ordinal: number }[]>`
      select app_id as "appId", platform_id as "platformId", ordinal from devices where device_id = 'b'`;
    if (b === undefined) throw new Error('no device');
    await eraseDevices(sql, [{ ...b, registeredBeforeMs: null }]);
    await holds(1, 4, 3, 'erased');

    const id = randomUUID();
    await sql`
      insert into notifications (id, client_id, user_name, state, any_tag_ids, all_tag_ids, none_tag_ids, payload, accepted_at)
      values (${id}, ${clientId}, 'user', 'RUNNING', ${[goals]}, '{}', '{}', '{}', '2026-01-01T12:00:00Z')`;
    for (const [app, platformId, delivered, failed] of [
      [appId, 3, 5, 1],
      [appId, 15, 10, 2],
      [second, 3, 100, 100],
    ] as const) {
      await sql`
        insert into notification_scopes (notification_id, app_id, platform_id, simulated, total, delivered, failed)
        values (${id}, ${app}, ${platformId}, false, ${delivered + failed}, ${delivered}, ${failed})`;
    }
    t.match(await stats(), {
      notifications: 1,
      delivered: 15,
      failed: 3,
      lastNotificationAt: Date.UTC(2026, 0, 1, 12),
      daily: [
        { ...nothing, date: '2026-01-01', notifications: 1, delivered: 15, failed: 3 },
        { ...nothing, date: today, subscribed: 4, unsubscribed: 3 },
      ],
    });
    t.match(await stats(second), { subscribers: 0, notifications: 1, delivered: 100, failed: 100 });
  },

  'an unknown, foreign or malformed app is 404; a key sees its apps, and no app if it has tags':
    async (t, store) => {
      const tenant = await makeTenant(store.sql, 'acme');
      const other = await makeTenant(store.sql, 'other');
      const [tag = 0] = await tenant.makeTags(1);
      const second = await tenant.makeApp();
      const superUser: Caller = { ...tenant.caller, role: 'super-user', appId: null };
      const status = async (app: number | string, caller: Caller = superUser) => {
        const request = makeRequest({ params: { client: 'acme', app: String(app) } });
        return (await handle([statsAppRoute(store)], PATH, caller, request)).status;
      };
      t.equal(await status(tenant.appId), 200);
      for (const wrong of [other.appId, tag, 999_999, 0, -1, 'x', '1.5', '99999999999', '']) {
        t.equal(await status(wrong), 404, String(wrong));
      }
      const by = (limits: Partial<KeyRights>): Caller => ({
        ...superUser,
        role: 'key',
        key: { ...NO_LIMITS, ...limits },
      });
      t.equal(await status(tenant.appId, by({})), 200);
      t.equal(await status(tenant.appId, by({ appIds: [second, tenant.appId] })), 200);
      t.equal(await status(tenant.appId, by({ appIds: [second] })), 403);
      t.equal(await status(other.appId, by({ appIds: [second] })), 404);
      t.equal(await status(tenant.appId, by({ tagIds: [tag] })), 403);
      t.equal(await status(tenant.appId, by({ groupIds: [], appIds: [tenant.appId] })), 403);
    },
});
