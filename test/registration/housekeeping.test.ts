import { randomUUID } from 'node:crypto';
import t from 'tap';
import { Housekeeping } from '../../src/registration/housekeeping.ts';
import type { Store } from '../../src/store/store.ts';
import { NO_FEED } from '../../src/tag-index/tag-index.ts';
import { makeAppApi, silent } from '../support/app-api.ts';
import { onEachStore } from '../support/on-each-store.ts';
import { makeTenant } from '../support/tenant.ts';

const DAY_MS = 86_400_000;

const makeHousekeeping = ({ sql }: Store): Housekeeping =>
  new Housekeeping({ sql, feed: NO_FEED, log: silent, deviceRetentionDays: 30 });

await onEachStore(t, {
  'a device without subscriptions is erased when its days are over': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const tag = await tenant.makeTag();
    const api = makeAppApi(store);
    const device = (deviceId: string) => ({ appId: tenant.appId, platformId: 15, deviceId });
    for (const deviceId of ['subscribed', 'unsubscribed', 'never', 'recent']) {
      const tagId = deviceId === 'never' ? [] : tag;
      await api.call('reg', tenant.caller, { ...device(deviceId), tagId });
    }
    await api.call('ureg', tenant.caller, device('unsubscribed'));
    await api.call('ureg', tenant.caller, device('recent'));
    await store.sql`update devices set registered_at = registered_at - interval '31 days'`;
    await store.sql`
      update devices set unsubscribed_at = unsubscribed_at - interval '31 days' where device_id = 'unsubscribed'`;
    const housekeeping = makeHousekeeping(store);
    const left = async () =>
      (await store.sql`select device_id as id from devices order by 1`).map((row) => row['id']);
    await housekeeping.run(Date.now() - 2 * DAY_MS);
    t.same(await left(), ['never', 'recent', 'subscribed', 'unsubscribed'], 'not a day too early');
    await housekeeping.run(Date.now());
    t.same(await left(), ['recent', 'subscribed']);
    await housekeeping.run(Date.now() + 31 * DAY_MS);
    t.same(await left(), ['subscribed']);
  },

  'devices are looked through slice by slice, to the end and again': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    await store.sql`
      insert into devices (app_id, platform_id, ordinal, device_key, device_id, registered_at)
      select ${tenant.appId}, 15, n, gen_random_uuid(), n::text,
        case when n in (5, 1999, 2000, 4500) then now() - interval '31 days' else now() end
      from generate_series(0, 4999) n`;
    const housekeeping = makeHousekeeping(store);
    const erased: number[] = [];
    for (let run = 0; run < 4; run += 1) {
      erased.push(await housekeeping.eraseIdleDevices(Date.now()));
    }
    t.same(erased, [2, 1, 1, 0]);
    await store.sql`update devices set registered_at = now() - interval '31 days' where ordinal = 7`;
    await housekeeping.eraseIdleDevices(Date.now());
    await housekeeping.eraseIdleDevices(Date.now());
    t.equal(await housekeeping.eraseIdleDevices(Date.now()), 1, 'it begins anew');
  },

  'subscriptions of a deleted tag go, then the tag; groups are raised': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const [kept = 0, deleted = 0] = await tenant.makeTags(2);
    const api = makeAppApi(store);
    const device = { appId: tenant.appId, platformId: 15, deviceId: 'x', tagId: [kept, deleted] };
    await api.call('reg', tenant.caller, device);
    await tenant.deleteTag(deleted);
    const housekeeping = makeHousekeeping(store);
    const tagIds = async () =>
      (await store.sql`select tag_id as id from subscriptions order by 1`).map((row) => row['id']);
    const version = async () =>
      (await store.sql`select version from device_groups`)[0]?.['version'];
    await housekeeping.run(Date.now());
    t.same(
      await tagIds(),
      [kept, deleted],
      'a registration that found it alive may still be under way',
    );
    const before = await version();
    await housekeeping.run(Date.now() + 600_000);
    t.same(await tagIds(), [kept]);
    t.ok((await version()) > before);
    t.same(
      (await store.sql`select id from tags`).map((row) => row['id']),
      [kept],
    );
    t.same(
      (await store.sql`select tag_id as id from tag_days`).map((row) => row['id']),
      [kept],
    );
  },

  'subscriptions in apps that a tag has left are removed': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const [kept = 0, leaving = 0] = await tenant.makeTags(2);
    const api = makeAppApi(store);
    const device = { appId: tenant.appId, platformId: 15, deviceId: 'x', tagId: [kept, leaving] };
    await api.call('reg', tenant.caller, device);
    await store.sql`update tags set app_ids = '{}' where id = ${leaving}`;
    await store.sql`update tags set app_ids = ${[tenant.appId]} where id = ${kept}`;
    await makeHousekeeping(store).run(Date.now());
    t.same(
      (await store.sql`select tag_id as id from subscriptions`).map((row) => row['id']),
      [kept],
    );
  },

  'idempotency keys go after a day, days of tags after 400': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const tag = await tenant.makeTag();
    const id = randomUUID();
    await store.sql`
      insert into notifications (id, client_id, user_name, state, any_tag_ids, all_tag_ids, none_tag_ids, payload)
      values (${id}, ${tenant.clientId}, 'user', 'FINISHED', '{}', '{}', '{}', '{}')`;
    await store.sql`
      insert into idempotency_keys (client_id, key, body_hash, notification_id)
      values (${tenant.clientId}, 'key', '', ${id})`;
    await store.sql`insert into tag_days (tag_id, day, slot) values (${tag}, now()::date, 0)`;
    const counts = async () => {
      const [row] = await store.sql`
        select (select count(*)::int from idempotency_keys) as keys, (select count(*)::int from tag_days) as days`;
      return row;
    };
    const housekeeping = makeHousekeeping(store);
    await housekeeping.run(Date.now() + 0.9 * DAY_MS);
    t.same(await counts(), { keys: 1, days: 1 });
    await housekeeping.run(Date.now() + 1.1 * DAY_MS);
    t.same(await counts(), { keys: 0, days: 1 });
    await housekeeping.run(Date.now() + 402 * DAY_MS);
    t.same(await counts(), { keys: 0, days: 0 });
  },
});
