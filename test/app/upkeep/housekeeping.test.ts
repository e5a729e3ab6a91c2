import { randomUUID } from 'node:crypto';
import t from 'tap';
import { Housekeeping } from '../../../src/app/upkeep/housekeeping.ts';
import type { SqlPool } from '../../../src/database/sql.ts';
import type { Store } from '../../../src/database/store.ts';
import { idleDeviceErasure } from '../../../src/devices/upkeep.ts';
import { findByIdempotencyKeys } from '../../../src/push/sql/notifications/find-by-idempotency-keys.ts';
import { readStatus } from '../../../src/push/sql/notifications/read-status.ts';
import { deleteOldNotifications } from '../../../src/push/sql/old-notifications.ts';
import { oldNotifications } from '../../../src/push/upkeep.ts';
import { countEnded, listEnded } from '../../../src/statistics/count-ended.ts';
import { statisticsDays, subscribersByApp } from '../../../src/statistics/read-statistics.ts';
import { ANY_TAG } from '../../../src/statistics/record-changes.ts';
import type { IndexFeed } from '../../../src/tag-index/tag-index.ts';
import { NO_FEED } from '../../../src/tag-index/tag-index.ts';
import { makeAppApi, silent } from '../../support/app-api.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { until } from '../../support/poll.ts';
import { seedDevices } from '../../support/seed.ts';
import { settableClock } from '../../support/set-clock.ts';
import { SILENT_JOURNAL } from '../../support/silent-journal.ts';
import { withPostgresStore } from '../../support/store.ts';
import { subscriptions } from '../../support/subscriptions.ts';
import { makeTenant } from '../../support/tenant.ts';
import { untilLockWaits } from '../../support/until-lock-waits.ts';
import { upkeepOf } from '../../support/upkeep.ts';

const DAY_MS = 86_400_000;

const makeHousekeeping = ({ sql }: Store, feed: IndexFeed = NO_FEED): Housekeeping =>
  new Housekeeping({
    journal: SILENT_JOURNAL,
    sql,
    feed,
    log: silent,
    deviceRetentionMs: 30 * DAY_MS,
    notificationRetentionDays: 90,
    reachRetentionDays: 7,
  });

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

  'a node whose clock is a month ahead deletes nothing too early': async (t, store) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    await sql`
      insert into devices (app_id, platform_id, ordinal, device_key, device_id, registered_at)
      select ${tenant.appId}, 15, n, gen_random_uuid(), n::text, now() - n * interval '31 days'
      from generate_series(0, 1) n`;
    const [id = '', oldId = ''] = await Promise.all(
      [0, 2].map((days) => insertJob(sql, tenant.clientId, tenant.appId, days, 'FINISHED')),
    );
    for (const [key, days] of [
      [id, 0],
      [oldId, 2],
    ] as const) {
      await sql`
        insert into idempotency_keys (client_id, key, body_hash, notification_id, created_at)
        values (${tenant.clientId}, ${key}, '', ${key}, now() - ${days}::float8 * interval '1 day')`;
    }
    settableClock(t)(31 * DAY_MS);
    const housekeeping = makeHousekeeping(store);
    housekeeping.start();
    const left = async () => {
      const devices = await sql`select device_id as id from devices`;
      const keys = await sql`select key from idempotency_keys`;
      return { devices: devices.map((row) => row['id']), keys: keys.map((row) => row['key']) };
    };
    await until('a run', async () => ((await left()).keys.length < 2 ? true : null));
    await housekeeping.stop();
    t.same(await left(), { devices: ['0'], keys: [id] });
  },

  'nodes that are dead go when no lease of theirs can be left': async (t, store) => {
    await store.sql`
      insert into nodes (host, pid, died_at)
      select 'host', n, case when n > 0 then now() - n * interval '1 minute' end
      from unnest(array[0, 19, 21]) n`;
    await makeHousekeeping(store).run(Date.now());
    const left = await store.sql`select pid from nodes order by pid`;
    t.same(
      left.map((row) => row['pid']),
      [0, 19],
    );
  },

  'a job that fails is told by its name, and does not hold up the others': async (t, store) => {
    const { sql } = store;
    const { appId } = await makeTenant(sql, 'acme');
    await seedDevices(sql, { appId, platformId: 15, tagIds: [], count: 1 });
    await sql`update devices set registered_at = now() - interval '31 days'`;
    await sql`insert into nodes (host, pid, died_at) values ('host', 1, now() - interval '1 day')`;
    const housekeeping = makeHousekeeping(store, {
      ...NO_FEED,
      apply: () => Promise.reject(new Error('the index is away')),
    });
    await t.rejects(housekeeping.run(Date.now()), {
      message: 'housekeeping could not do: idle devices',
      errors: [{ message: 'the index is away' }],
    });
    t.same(await sql`select from nodes`, []);
  },

  'what no index finds is looked for once an hour': async (t, store) => {
    const { sql } = store;
    const add = (key: string) => sql`
      insert into provider_quotas (key, permits, refilled_at) values (${key}, 1, now() - interval '2 days')`;
    const left = async () => (await sql`select from provider_quotas`).length;
    const housekeeping = makeHousekeeping(store);
    const nowMs = Date.now();
    await add('first');
    await housekeeping.run(nowMs);
    t.equal(await left(), 0);
    await add('second');
    await housekeeping.run(nowMs + 3_599_000);
    t.equal(await left(), 1);
    await housekeeping.run(nowMs + 3_600_000);
    t.equal(await left(), 0);
  },

  'devices are looked through slice by slice, to the end and again': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    await store.sql`
      insert into devices (app_id, platform_id, ordinal, device_key, device_id, registered_at)
      select ${tenant.appId}, 15, n, gen_random_uuid(), n::text,
        case when n in (5, 1999, 2000, 4500) then now() - interval '31 days' else now() end
      from generate_series(0, 4999) n`;
    const upkeep = upkeepOf(store.sql, idleDeviceErasure(NO_FEED, 30 * DAY_MS));
    const left = async () => (await store.sql`select from devices`).length;
    const after: number[] = [];
    for (let run = 0; run < 4; run += 1) {
      await upkeep.run(Date.now());
      after.push(await left());
    }
    t.same(after, [4_998, 4_997, 4_996, 4_996]);
    await store.sql`update devices set registered_at = now() - interval '31 days' where ordinal = 7`;
    await upkeep.run(Date.now());
    await upkeep.run(Date.now());
    t.equal(await left(), 4_996);
    await upkeep.run(Date.now());
    t.equal(await left(), 4_995, 'it begins anew');
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
      (await store.sql`select tag_id as id from ${subscriptions(store.sql)} order by 1`).map(
        (row) => row['id'],
      );
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
      (await store.sql`select tag_id as id from tag_days where tag_id <> ${ANY_TAG}`).map(
        (row) => row['id'],
      ),
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
      (await store.sql`select tag_id as id from ${subscriptions(store.sql)}`).map(
        (row) => row['id'],
      ),
      [kept],
    );
  },

  'tags that were disconnected here go with the next run, however many they are': async (
    t,
    store,
  ) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    const { appId } = tenant;
    const tagIds = await tenant.makeTags(1_500);
    const housekeeping = makeHousekeeping(store);
    await housekeeping.run(Date.now());
    const left = async () =>
      (await sql`select distinct tag_id as id from ${subscriptions(sql)} order by 1`).map(
        (row) => row['id'],
      );
    const disconnect = async (some: readonly number[]) => {
      await sql`update tags set app_ids = '{}' where id = any (${[...some]}::int[])`;
      for (const tagId of some) housekeeping.unwantedTags.expectDisconnected(tagId);
    };
    const few = tagIds.slice(0, 3);
    await seedDevices(sql, { appId, platformId: 3, tagIds, count: 2 });
    await disconnect(few.slice(0, 2));
    await sql`update tags set app_ids = '{}' where id = ${few[2] ?? 0}`;
    await housekeeping.run(Date.now() + 10_000);
    t.same(await left(), tagIds.slice(2), 'of the third one only the next sweep knows');
    await disconnect(tagIds.slice(3));
    await housekeeping.run(Date.now() + 20_000);
    t.same(await left(), [], 'more than are remembered: all tags are looked at');
  },

  'a rare tag that was deleted goes from all its groups in one run': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const tagIds = await tenant.makeTags(1);
    const { appId } = tenant;
    await seedDevices(store.sql, { appId, platformId: 3, tagIds, count: 50, step: 8_192 });
    await store.sql`update tags set deleted_at = now() - interval '1 hour'`;
    await upkeepOf(store.sql, makeHousekeeping(store).unwantedTags.deleted).run(Date.now());
    t.same(await store.sql`select from device_group_tags`, []);
    t.same(await store.sql`select from tags`, []);
  },

  'idempotency keys go after a day, days of statistics after two years': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const tag = await tenant.makeTag();
    const id = randomUUID();
    await store.sql`
      insert into notifications (id, client_id, user_name, state, any_tag_ids, all_tag_ids, none_tag_ids, payload)
      values (${id}, ${tenant.clientId}, 'user', 'FINISHED', '{}', '{}', '{}', '{}')`;
    await store.sql`
      insert into idempotency_keys (client_id, key, body_hash, notification_id)
      values (${tenant.clientId}, 'key', '', ${id})`;
    await store.sql`
      insert into tag_days (tag_id, app_id, platform_id, day, slot, subscribed, unsubscribed)
      select ${tag}, ${tenant.appId}, 15, (now() at time zone 'utc')::date - n, n, 3, 1 from generate_series(0, 1) n`;
    await store.sql`
      insert into notification_days (object_id, day, notifications, delivered, failed, last_accepted_at)
      select ${tag}, (now() at time zone 'utc')::date - n, 2, 10, 3, '2026-01-02T12:00:00Z'::timestamptz - n * interval '1 day' from generate_series(0, 1) n`;
    const counts = async () => {
      const [row] = await store.sql`
        select (select count(*)::int from idempotency_keys) as keys,
          (select count(*)::int from tag_days where day <> '-infinity') as days,
          (select count(*)::int from notification_days where day <> '-infinity') as sent`;
      return row;
    };
    const subject = { kind: 'tag', id: tag, clientId: tenant.clientId } as const;
    const housekeeping = makeHousekeeping(store);
    await housekeeping.run(Date.now() + 0.9 * DAY_MS);
    t.same(await counts(), { keys: 1, days: 2, sent: 2 });
    await housekeeping.run(Date.now() + 1.1 * DAY_MS);
    t.same(await counts(), { keys: 0, days: 2, sent: 2 });
    await housekeeping.run(Date.now() + 729 * DAY_MS);
    t.same(await counts(), { keys: 0, days: 2, sent: 2 });
    await housekeeping.run(Date.now() + 733 * DAY_MS);
    t.same(await counts(), { keys: 0, days: 0, sent: 0 });
    await store.sql`
      insert into notification_days (object_id, day, notifications, delivered, failed, last_accepted_at)
      values (${tag}, '2026-01-03', 1, 1, 1, '2026-01-03T12:00:00Z')`;
    await housekeeping.run(Date.now() + 735 * DAY_MS);
    const lastNotificationAt = Date.UTC(2026, 0, 3, 12);
    t.match(
      await statisticsDays(store.sql, subject),
      [{ date: null, notifications: 5, delivered: 21, failed: 7, lastNotificationAt }],
      'they are in the totals for ever',
    );
    t.match(await subscribersByApp(store.sql, subject), [{ count: 0 }, { count: 4 }]);
  },

  'of a day that is over one row is left, with all that was counted': async (t, store) => {
    const { sql } = store;
    const { appId, ...tenant } = await makeTenant(sql, 'acme');
    const tag = await tenant.makeTag();
    await sql`
      insert into tag_days (tag_id, app_id, platform_id, day, slot, subscribed, unsubscribed)
      select ${tag}, ${appId}, 15, (now() at time zone 'utc')::date - n, slot, slot + n, 1
      from generate_series(0, 3) n, unnest(array[0, 7, 250]) slot
      where n <> 3 or slot > 0`;
    const rows = async () =>
      sql`
        select (now() at time zone 'utc')::date - day as ago, count(*)::int as rows, max(slot)::int as slot,
          sum(subscribed)::int as gained, sum(unsubscribed)::int as lost
        from tag_days group by day order by day desc`;
    const housekeeping = makeHousekeeping(store);
    await housekeeping.run(Date.now());
    t.same(
      [...(await rows())],
      [
        { ago: 0, rows: 3, slot: 250, gained: 257, lost: 3 },
        { ago: 1, rows: 3, slot: 250, gained: 260, lost: 3 },
        { ago: 2, rows: 1, slot: 0, gained: 263, lost: 3 },
        { ago: 3, rows: 1, slot: 0, gained: 263, lost: 2 },
      ],
    );
  },

  'a push job goes when its days after its end are over, with all that is its': async (
    t,
    store,
  ) => {
    const { sql } = store;
    const { clientId, appId } = await makeTenant(sql, 'acme');
    const ended = (days: number, state = 'FINISHED') =>
      insertJob(sql, clientId, appId, days, state);
    const old = await ended(91, 'FAILED');
    const recent = await ended(89, 'CANCELLED');
    const unfinished = await ended(400, 'RUNNING');
    const beingCounted = await ended(400, 'CANCELLED');
    await sql`update notifications set finished_at = null where id in (${unfinished}, ${beingCounted})`;
    const status = async (id: string) => (await readStatus(sql, clientId, id))?.[0]?.total ?? null;
    t.equal(await status(old), 7);
    await makeHousekeeping(store).run(Date.now());
    t.same(await Promise.all([old, recent, unfinished, beingCounted].map(status)), [null, 7, 7, 7]);
    const [left] = await sql`
      select (select count(*) from notification_scopes) as scopes, (select count(*) from failure_reasons) as reasons`;
    t.same(left, { scopes: 3, reasons: 3 });
  },

  'a push job stays until statistics have counted it, and is counted for long after': async (
    t,
    { sql },
  ) => {
    const { clientId, appId } = await makeTenant(sql, 'acme');
    const id = await insertJob(sql, clientId, appId, 91, 'FINISHED');
    const left = async () => (await sql`select from notifications`).length;
    const sent = async () => {
      const days = await statisticsDays(sql, { kind: 'app', id: appId, clientId });
      return days.map(({ notifications, delivered, failed }) => [notifications, delivered, failed]);
    };
    t.equal(await deleteOldNotifications(sql, Date.now() - 90 * DAY_MS, 10), 0);
    await listEnded(sql, 10);
    t.equal(await deleteOldNotifications(sql, Date.now() - 90 * DAY_MS, 10), 0);
    t.same([await left(), await sent()], [1, [[1, 6, 1]]]);
    await countEnded(sql, 10);
    t.equal(await deleteOldNotifications(sql, Date.now() - 90 * DAY_MS, 10), 1);
    t.same([await left(), await sent()], [0, [[1, 6, 1]]]);
    t.equal(await readStatus(sql, clientId, id), null);
  },

  'a push job stays while the devices that it condemned are undecided': async (t, store) => {
    const { sql } = store;
    const { clientId, appId } = await makeTenant(sql, 'acme');
    const id = await insertJob(sql, clientId, appId, 91, 'FINISHED');
    for (const state of ['pending', 'held', 'released', 'discarded']) {
      await sql`update notification_scopes set deletions = ${state}`;
      await makeHousekeeping(store).run(Date.now());
      t.not(await readStatus(sql, clientId, id), null, state);
    }
    await sql`update notification_scopes set deletions = null`;
    await makeHousekeeping(store).run(Date.now());
    t.equal(await readStatus(sql, clientId, id), null);
  },

  'push jobs go piece by piece, the oldest first, so many in a run': async (t, store) => {
    const { sql } = store;
    const { clientId } = await makeTenant(sql, 'acme');
    await sql`
      insert into notifications
        (id, client_id, user_name, state, any_tag_ids, all_tag_ids, none_tag_ids, payload, finished_at)
      select gen_random_uuid(), ${clientId}, 'user', 'FINISHED', '{}', '{}', '{}', '{}',
        now() - interval '100 days' - n * interval '1 minute'
      from generate_series(1, 2101) n`;
    const left = async () => {
      const [row] = await sql<{ count: number; oldest: number }[]>`
        select count(*), round(extract(epoch from now() - min(finished_at)) / 60 - 144000)::int as oldest
        from notifications`;
      return row;
    };
    const housekeeping = makeHousekeeping(store);
    await housekeeping.run(Date.now());
    t.same(await left(), { count: 101, oldest: 101 });
    await housekeeping.run(Date.now());
    t.equal((await left())?.count, 0);
  },

  'a job that is deleted after a day takes no idempotency key that still holds': async (
    t,
    { sql },
  ) => {
    const { clientId, appId } = await makeTenant(sql, 'acme');
    const keyed = async (key: string, days: number) => {
      const id = await insertJob(sql, clientId, appId, days, 'FINISHED');
      await sql`
        insert into idempotency_keys (client_id, key, body_hash, notification_id, created_at)
        values (${clientId}, ${key}, '', ${id}, now() - ${days}::float8 * interval '1 day')`;
    };
    await keyed('over', 1.01);
    await keyed('holds', 0.99);
    await listEnded(sql, 10);
    await countEnded(sql, 10);
    // Run alone: the keys have a job of their own, which would delete them before.
    await upkeepOf(sql, oldNotifications(1)).run(Date.now());
    const asked = ['over', 'holds'].map((key) => ({ key, userName: 'demo-super' }));
    const held = await findByIdempotencyKeys(sql, clientId, asked);
    t.strictSame(
      held.map(({ key }) => key),
      ['holds'],
    );
    t.same(await sql`select key from idempotency_keys`, [{ key: 'holds' }]);
  },
});

/** A job of one scope that ended so many days ago. */
async function insertJob(
  sql: SqlPool,
  clientId: number,
  appId: number,
  days: number,
  state: string,
): Promise<string> {
  const id = randomUUID();
  await sql`
    insert into notifications
      (id, client_id, user_name, state, any_tag_ids, all_tag_ids, none_tag_ids, payload, accepted_at, finished_at)
    select ${id}, ${clientId}, 'user', ${state}, '{}', '{}', '{}', '{}', ended - interval '1 second', ended
    from (select now() - ${days}::float8 * interval '1 day' as ended) e`;
  await sql`
    insert into notification_scopes (notification_id, app_id, platform_id, simulated, total, delivered, failed)
    values (${id}, ${appId}, 3, false, 7, 6, 1)`;
  await sql`
    insert into failure_reasons (notification_id, app_id, platform_id, reason, count)
    values (${id}, ${appId}, 3, 'Unregistered', 1)`;
  return id;
}

await withPostgresStore(t, async (t, store) => {
  const { sql } = store;
  const { appId, makeTag } = await makeTenant(sql, 'acme');
  const tagId = await makeTag();
  const deviceIds = ['subscribed', 'unsubscribed', 'idle'];
  await seedDevices(sql, { appId, platformId: 15, tagIds: [], count: 3, deviceIds });
  await sql`update devices set registered_at = now() - interval '31 days'`;
  let erasing: Promise<void> | null = null;
  await sql.begin(async (tx) => {
    // Bulk operations do this: nothing is said of their registration.
    await tx`update devices set tag_ids = array[${tagId}::integer] where device_id = 'subscribed'`;
    await tx`update devices set unsubscribed_at = now() where device_id = 'unsubscribed'`;
    erasing = upkeepOf(sql, idleDeviceErasure(NO_FEED, 30 * DAY_MS)).run(Date.now());
    await untilLockWaits('the eraser waits for the devices', sql);
  });
  await erasing;
  t.same(
    (await sql`select device_id as id from devices order by 1`).map((row) => row['id']),
    ['subscribed', 'unsubscribed'],
    'who is not idle any more when he is locked stays',
  );
});
