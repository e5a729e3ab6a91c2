import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import type { Caller } from '../../../src/domain/caller.ts';
import { statsTagRoute } from '../../../src/statistics/routes/stats-tag.ts';
import { handle, makeAppApi, makeRequest } from '../../support/app-api.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import type { Tenant } from '../../support/tenant.ts';
import { makeTenant } from '../../support/tenant.ts';

const PATH = '/push-admin-api/v3/:client/stats/tag/:tag';

async function makeNotification(
  { sql }: Store,
  tenant: Tenant,
  tagIds: readonly number[],
  acceptedAt: string,
  outcomes: readonly {
    readonly platformId: number;
    readonly delivered: number;
    readonly failed: number;
  }[],
): Promise<void> {
  const id = randomUUID();
  await sql`
    insert into notifications (id, client_id, user_name, state, any_tag_ids, all_tag_ids, none_tag_ids, payload, accepted_at)
    values (${id}, ${tenant.clientId}, 'user', 'FINISHED', ${[...tagIds]}, '{}', '{}', '{}', ${acceptedAt})`;
  for (const { platformId, delivered, failed } of outcomes) {
    await sql`
      insert into notification_scopes (notification_id, app_id, platform_id, simulated, total, delivered, failed)
      values (${id}, ${tenant.appId}, ${platformId}, false, ${delivered + failed}, ${delivered}, ${failed})`;
  }
}

await onEachStore(t, {
  'stats: subscribers, notifications and days, exactly': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const superUser: Caller = { ...tenant.caller, role: 'super-user', appId: null };
    const tag = await tenant.makeTag({
      name: 'News',
      sourceId: 'news',
      expiresAtMs: 9_999_999_999_999,
    });
    const other = await tenant.makeTag();
    const api = makeAppApi(store);
    const routes = [statsTagRoute(store)];
    const stats = async () => {
      const params = { client: 'acme', tag: String(tag) };
      const response = await handle(routes, PATH, superUser, makeRequest({ params }));
      t.match(response, { status: 200, headers: { 'Content-Type': 'application/json' } });
      return JSON.parse(String(response.body));
    };
    t.same(await stats(), {
      tag: { id: tag, name: 'News', sourceId: 'news', expiration: 9_999_999_999_999 },
      subscribers: 0,
      subscribersByApp: [
        { appId: tenant.appId, platformId: 3, count: 0 },
        { appId: tenant.appId, platformId: 15, count: 0 },
      ],
      notifications: 0,
      delivered: 0,
      failed: 0,
      lastNotificationAt: null,
      daily: [],
    });
    const device = (platformId: number, deviceId: string) => ({
      appId: tenant.appId,
      platformId,
      deviceId,
    });
    for (const deviceId of ['a', 'b', 'c']) {
      await api.call('reg', tenant.caller, { ...device(15, deviceId), tagId: [tag, other] });
    }
    await api.call('reg', tenant.caller, { ...device(3, 'a'), tagId: tag });
    await api.call('reg', tenant.caller, { ...device(3, 'a'), tagId: tag });
    await api.call('ureg', tenant.caller, device(15, 'b'));
    await makeNotification(store, tenant, [other, tag], '2026-01-01T23:59:59.999Z', [
      { platformId: 3, delivered: 5, failed: 1 },
      { platformId: 15, delivered: 10, failed: 2 },
    ]);
    await makeNotification(store, tenant, [tag], '2026-01-02T00:00:00Z', []);
    await makeNotification(store, tenant, [other], '2026-01-03T00:00:00Z', [
      { platformId: 3, delivered: 100, failed: 100 },
    ]);
    const nothing = { notifications: 0, delivered: 0, failed: 0, subscribed: 0, unsubscribed: 0 };
    const today = new Date().toISOString().slice(0, 10);
    t.match(await stats(), {
      subscribers: 3,
      subscribersByApp: [
        { appId: tenant.appId, platformId: 3, count: 1 },
        { appId: tenant.appId, platformId: 15, count: 2 },
      ],
      notifications: 2,
      delivered: 15,
      failed: 3,
      lastNotificationAt: Date.UTC(2026, 0, 2),
      daily: [
        { ...nothing, date: '2026-01-01', notifications: 1, delivered: 15, failed: 3 },
        { ...nothing, date: '2026-01-02', notifications: 1 },
        { ...nothing, date: today, subscribed: 4, unsubscribed: 1 },
      ],
    });
  },

  'an unknown, foreign, deleted or malformed tag is 404': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const other = await makeTenant(store.sql, 'other');
    const superUser: Caller = { ...tenant.caller, role: 'super-user', appId: null };
    const tag = await tenant.makeTag();
    const foreign = await other.makeTag();
    const deleted = await tenant.makeTag();
    await tenant.deleteTag(deleted);
    const routes = [statsTagRoute(store)];
    const status = async (tagId: number | string) => {
      const params = { client: 'acme', tag: String(tagId) };
      return (await handle(routes, PATH, superUser, makeRequest({ params }))).status;
    };
    t.equal(await status(tag), 200);
    for (const wrong of [foreign, deleted, 999_999, 0, -1, 'x', '1.5', '99999999999', '']) {
      t.equal(await status(wrong), 404, String(wrong));
    }
  },
});
