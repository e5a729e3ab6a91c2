import t from 'tap';
import type { SqlPool } from '../../../src/database/sql.ts';
import type { Operation } from '../../../src/devices/operation.ts';
import { deviceRef } from '../../../src/devices/operation.ts';
import { Registration } from '../../../src/devices/register/registration.ts';
import { NO_ATTRIBUTES } from '../../../src/domain/device-attributes.ts';
import { ANY_TAG } from '../../../src/statistics/record-changes.ts';
import { NO_FEED } from '../../../src/tag-index/tag-index.ts';
import { makeRegistration, silent } from '../../support/app-api.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { until } from '../../support/poll.ts';
import { subscriptions } from '../../support/subscriptions.ts';
import type { Tenant } from '../../support/tenant.ts';
import { makeTenant } from '../../support/tenant.ts';
import { untilLockWaits } from '../../support/until-lock-waits.ts';

const subscribe = (
  kind: 'reg' | 'set',
  appId: number,
  deviceId: string,
  tagIds: readonly number[],
): Operation => ({
  kind,
  device: deviceRef(appId, 15, deviceId),
  tagIds,
  attributes: NO_ATTRIBUTES,
});

const unsubscribe = (
  appId: number,
  deviceId: string,
  tagIds: readonly number[] | 'all',
): Operation => ({ kind: 'ureg', device: deviceRef(appId, 15, deviceId), tagIds });

async function tagsOf(sql: SqlPool, deviceId: string): Promise<readonly number[]> {
  const rows = await sql<{ id: number }[]>`
    select s.tag_id as id from devices d join ${subscriptions(sql)} using (app_id, platform_id, ordinal)
    where d.device_id = ${deviceId} order by 1`;
  return rows.map(({ id }) => id);
}

const versions = (sql: SqlPool) =>
  sql`select group_number as group, version from device_groups order by 1`.then((rows) => [
    ...rows,
  ]);

await onEachStore(t, {
  'new devices are registered although their transaction was in the way of another': async (
    t,
    { sql, ...store },
  ) => {
    const tenant = await makeTenant(sql, 'acme');
    const tag = await tenant.makeTag();
    await sql.unsafe(`
      create sequence tries;
      create function fail_once() returns trigger language plpgsql as $$
        begin
          if nextval('tries') = 1 then raise exception 'deadlock' using errcode = '40P01'; end if;
          return null;
        end $$;
      create trigger fail_once after insert on device_groups for each statement execute function fail_once()`);
    const registration = new Registration({
      store: { sql, ...store },
      feed: NO_FEED,
      log: silent,
      inFlightMax: 1_000,
      devicesPerAppMax: 1_000,
      tagsPerDeviceMax: 10,
      freshMs: 86_400_000,
    });
    // More than the lane's first range: so many are reserved, and not one more.
    const devices = Array.from({ length: 300 }, (_, number) => `device-${number}`);
    const results = await Promise.all(
      devices.map((device) => registration.submit(subscribe('reg', tenant.appId, device, [tag]))),
    );
    t.same(new Set(results), new Set(['committed']));
    const [found] = await sql`select count(*) from ${subscriptions(sql)} where tag_id = ${tag}`;
    t.equal(found?.['count'], 300);
    const [last] = await sql`select last_value as tries from tries`;
    t.equal(last?.['tries'], 2, 'it was tried again');
  },

  'a token that its app registers again is no longer refused': async (t, { sql, ...store }) => {
    const tenant = await makeTenant(sql, 'acme');
    const tag = await tenant.makeTag();
    const registration = makeRegistration({ sql, ...store });
    await registration.submit(subscribe('reg', tenant.appId, 'phone', [tag]));
    const refusals = async () => {
      const [row] = await sql`select refusals, refused_at from devices where device_id = 'phone'`;
      return { ...row };
    };
    await sql`update devices set refusals = 2, refused_at = '2026-11-21' where device_id = 'phone'`;
    await registration.submit(unsubscribe(tenant.appId, 'phone', 'all'));
    t.match(await refusals(), { refusals: 2 }, 'unsubscribing says nothing of the token');
    await registration.submit(subscribe('reg', tenant.appId, 'phone', [tag]));
    t.same(await refusals(), { refusals: 0, refused_at: null });
  },

  'an answered operation is there, and others are not affected': async (t, { sql, ...store }) => {
    const tenant = await makeTenant(sql, 'acme');
    const [a = 0, b = 0, c = 0] = await tenant.makeTags(3);
    const registration = makeRegistration({ sql, ...store });
    t.equal(await registration.submit(subscribe('reg', tenant.appId, 'x', [a, b])), 'committed');
    t.same(await tagsOf(sql, 'x'), [a, b]);
    await registration.submit(subscribe('reg', tenant.appId, 'y', [a]));
    await registration.submit(subscribe('reg', tenant.appId, 'x', [c]));
    await registration.submit(unsubscribe(tenant.appId, 'x', [a]));
    t.same(await tagsOf(sql, 'x'), [b, c]);
    t.same(await tagsOf(sql, 'y'), [a]);
    await registration.submit(subscribe('set', tenant.appId, 'x', [a]));
    t.same(await tagsOf(sql, 'x'), [a]);
    await registration.submit(unsubscribe(tenant.appId, 'x', 'all'));
    t.same(await tagsOf(sql, 'x'), []);
    const [kept] = await sql`select unsubscribed_at from devices where device_id = 'x'`;
    t.ok(kept?.['unsubscribed_at'], 'the device is kept, unsubscribed');
    const days = await sql`
      select sum(subscribed) as gained, sum(unsubscribed) as lost from tag_days where tag_id = ${a}`;
    t.match([...days], [{ gained: '3', lost: '2' }]);
    const subscribers = await sql`
      select sum(subscribed) as gained, sum(unsubscribed) as lost from tag_days where tag_id = ${ANY_TAG}`;
    t.match([...subscribers], [{ gained: '2', lost: '1' }], 'devices with any tag');
  },

  'what is no tag, deleted, expired or not connected is not subscribed to': async (
    t,
    { sql, ...store },
  ) => {
    const tenant = await makeTenant(sql, 'acme');
    const [live = 0, deleted = 0] = await tenant.makeTags(2);
    await tenant.deleteTag(deleted);
    const expired = await tenant.makeTag({ expiresAtMs: Date.now() - 1_000 });
    const elsewhere = await tenant.makeTag({ appIds: [await tenant.makeApp()] });
    const registration = makeRegistration({ sql, ...store });
    const useless = [deleted, expired, elsewhere, 999_999];
    await registration.submit(subscribe('reg', tenant.appId, 'x', [live, ...useless]));
    t.same(await tagsOf(sql, 'x'), [live]);
    await registration.submit(subscribe('set', tenant.appId, 'x', useless));
    t.same(await tagsOf(sql, 'x'), [live], 'a set of which nothing is known is ignored');
  },

  'versions are raised by what changes something, and by nothing else': async (
    t,
    { sql, ...store },
  ) => {
    const tenant = await makeTenant(sql, 'acme');
    const [a = 0, b = 0] = await tenant.makeTags(2);
    const registration = makeRegistration({ sql, ...store });
    const submit = (operation: Operation) => registration.submit(operation);
    await submit(subscribe('reg', tenant.appId, 'x', [a]));
    t.match(await versions(sql), [{ version: 1 }]);
    await submit(subscribe('reg', tenant.appId, 'x', [a]));
    await submit(unsubscribe(tenant.appId, 'x', [b]));
    await submit(subscribe('set', tenant.appId, 'x', [a]));
    await submit(unsubscribe(tenant.appId, 'nobody', 'all'));
    t.match(await versions(sql), [{ version: 1 }], 'nothing had changed');
    await submit(subscribe('reg', tenant.appId, 'x', [b]));
    t.match(await versions(sql), [{ version: 2 }]);
    await submit(unsubscribe(tenant.appId, 'x', [a]));
    t.match(await versions(sql), [{ version: 3 }]);
    t.same(
      [...(await sql`select 1 from devices where device_id = 'nobody'`)],
      [],
      'ureg makes none',
    );
  },

  'many callers, few devices, two nodes: as if one after the other': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const tagIds = await tenant.makeTags(6);
    const nodes = [makeRegistration(store), makeRegistration(store)];
    const devices = Array.from({ length: 40 }, (_, index) => `device ${index}`);
    // Each device has one caller, who waits for each answer and changes nodes as he likes.
    const expected = await Promise.all(
      devices.map((deviceId, index) => liveOf(tenant, deviceId, tagIds, nodes, index)),
    );
    for (const [index, deviceId] of devices.entries()) {
      t.same(await tagsOf(store.sql, deviceId), expected[index], deviceId);
    }
    const [sums] = await store.sql<
      Record<'counted' | 'there' | 'subscribers' | 'devices', number>[]
    >`
      select (select sum(subscribed - unsubscribed)::int from tag_days where tag_id <> ${ANY_TAG}) as counted,
        (select count(*)::int from ${subscriptions(store.sql)}) as there,
        (select sum(subscribed - unsubscribed)::int from tag_days where tag_id = ${ANY_TAG}) as subscribers,
        (select count(*)::int from devices where tag_ids <> '{}') as devices`;
    t.equal(sums?.counted, sums?.there, 'the counters agree with the subscriptions');
    t.equal(sums?.subscribers, sums?.devices, 'and with the devices that have any');
    await Promise.all(nodes.map((node) => node.drain()));
  },

  'one device, many callers on two nodes, each with tags of his own': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const nodes = [makeRegistration(store), makeRegistration(store)];
    const tagIds = await tenant.makeTags(48);
    const callers = Array.from({ length: 16 }, (_, index) =>
      tagIds.slice(index * 3, index * 3 + 3),
    );
    await Promise.all(
      callers.map(async ([a = 0, b = 0, c = 0], index) => {
        const submit = (operation: Operation) => nodes[index % 2]?.submit(operation);
        for (let round = 0; round < 5; round += 1) {
          await submit(subscribe('reg', tenant.appId, 'x', [a, b]));
          await submit(unsubscribe(tenant.appId, 'x', [b]));
          await submit(subscribe('reg', tenant.appId, 'x', [c]));
          await submit(unsubscribe(tenant.appId, 'x', [round % 2 === 0 ? a : c]));
        }
      }),
    );
    // The last round, 4, removed a and b.
    t.same(
      await tagsOf(store.sql, 'x'),
      callers.map(([, , c]) => c),
    );
  },

  'callers who do not wait: one device on one node keeps their order': async (
    t,
    { sql, ...store },
  ) => {
    const tenant = await makeTenant(sql, 'acme');
    const [a = 0, b = 0, c = 0] = await tenant.makeTags(3);
    const registration = makeRegistration({ sql, ...store });
    await Promise.all([
      registration.submit(subscribe('reg', tenant.appId, 'x', [a])),
      registration.submit(subscribe('set', tenant.appId, 'x', [b, c])),
      registration.submit(unsubscribe(tenant.appId, 'x', [b])),
      registration.submit(subscribe('reg', tenant.appId, 'x', [a])),
      registration.submit(unsubscribe(tenant.appId, 'y', 'all')),
    ]);
    t.same(await tagsOf(sql, 'x'), [a, c]);
  },

  'eight nodes that meet a new device in the same moment make one of it': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const tagIds = await tenant.makeTags(8);
    const nodes = tagIds.map(() => makeRegistration(store));
    const devices = Array.from({ length: 300 }, (_, index) => `device ${index}`);
    const results = await Promise.all(
      tagIds.flatMap((tagId, index) => {
        // Each node begins at another device: a batch meets new devices of several others', one
        // batch after the other.
        const first = index * 37;
        return [...devices.slice(first), ...devices.slice(0, first)].map((deviceId) =>
          nodes[index]?.submit(subscribe('reg', tenant.appId, deviceId, [tagId])),
        );
      }),
    );
    t.same(new Set(results), new Set(['committed']));
    const [count] = await store.sql<{ devices: number; subscriptions: number }[]>`
      select (select count(*)::int from devices) as devices, (select count(*)::int from ${subscriptions(store.sql)}) as subscriptions`;
    t.same(count, { devices: 300, subscriptions: 2_400 });
  },

  'a new device that another transaction makes meanwhile: the batch is done again, with the same ordinals':
    async (t, { sql, ...store }) => {
      // The embedded one is a single session.
      if (store.address.kind === 'embedded') return;
      const tenant = await makeTenant(sql, 'acme');
      const tag = await tenant.makeTag();
      const registration = makeRegistration({ sql, ...store });
      await sql.unsafe(`
      create sequence inserts;
      create function count_insert() returns trigger language plpgsql as
        $$ begin perform nextval('inserts'); return null; end $$;
      create trigger count_insert before insert on devices for each statement execute function count_insert()`);
      const other = deviceRef(tenant.appId, 15, 'device-0');
      const devices = Array.from({ length: 100 }, (_, number) => `device-${number}`);
      let submitted: Promise<readonly string[]> | undefined;
      await sql.begin(async (tx) => {
        await tx`
        insert into devices (app_id, platform_id, ordinal, device_key, device_id, registered_at)
        values (${tenant.appId}, 15, 1000000, ${other.deviceKey}::uuid, 'device-0', now())`;
        submitted = Promise.all(
          devices.map((device) =>
            registration.submit(subscribe('reg', tenant.appId, device, [tag])),
          ),
        );
        await until('the batch waits for this device', async () => {
          const [row] = await sql`
          select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%insert into devices%'`;
          return row ?? null;
        });
      });
      t.same(new Set(await submitted), new Set(['committed']));
      const [found] = await sql<{ devices: number; subscriptions: number; mark: number }[]>`
      select (select count(*)::int from devices) as devices, (select count(*)::int from ${subscriptions(sql)}) as subscriptions,
        (select next_ordinal from app_platforms where app_id = ${tenant.appId} and platform_id = 15) as mark`;
      t.match(found, { devices: 100, subscriptions: 100 });
      t.same(await tagsOf(sql, 'device-0'), [tag]);
      t.ok((found?.mark ?? 0) <= 128, 'nothing more was reserved for the second try');
      const [inserts] = await sql`select last_value::int as count from inserts`;
      // This test's own, that of the first try, and that of the second one.
      t.equal(inserts?.['count'], 1 + 1 + 1);
      await sql.unsafe(
        'drop trigger count_insert on devices; drop function count_insert; drop sequence inserts',
      );
    },

  'a row that PostgreSQL refuses does not fail its neighbours': async (t, { sql, ...store }) => {
    const tenant = await makeTenant(sql, 'acme');
    const [tag = 0] = await tenant.makeTags(1);
    const registration = makeRegistration({ sql, ...store });
    const deviceIds = Array.from({ length: 50 }, (_, index) =>
      index === 17 ? 'a\0b' : `d${index}`,
    );
    const results = await Promise.all(
      deviceIds.map((deviceId) =>
        registration.submit(subscribe('reg', tenant.appId, deviceId, [tag])),
      ),
    );
    t.equal(results[17], 'refused');
    t.equal(results.filter((result) => result === 'committed').length, 49);
    const [count] = await sql`select count(*)::int as count from ${subscriptions(sql)}`;
    t.same(count, { count: 49 });
  },

  'what waits is bounded, and draining answers it all': async (t, { sql, ...store }) => {
    const tenant = await makeTenant(sql, 'acme');
    const [tag = 0] = await tenant.makeTags(1);
    const registration = makeRegistration({ sql, ...store }, { inFlightMax: 10 });
    const submitted = Array.from({ length: 15 }, (_, index) =>
      registration.submit(subscribe('reg', tenant.appId, `d${index}`, [tag])),
    );
    await registration.drain();
    const results = await Promise.all(submitted);
    t.equal(results.filter((result) => result === 'committed').length, 10);
    t.equal(results.filter((result) => result === 'overloaded').length, 5);
    const [count] = await sql`select count(*)::int as count from devices`;
    t.same(count, { count: 10 });
    const late = await registration.submit(subscribe('reg', tenant.appId, 'late', [tag]));
    t.equal(late, 'unavailable');
  },

  'an app has no more devices than it may; the known ones still register': async (
    t,
    { sql, ...store },
  ) => {
    const tenant = await makeTenant(sql, 'acme');
    const [a = 0, b = 0] = await tenant.makeTags(2);
    const registration = makeRegistration({ sql, ...store }, { devicesPerAppMax: 5 });
    for (let index = 0; index < 5; index += 1) {
      const device = subscribe('reg', tenant.appId, `d${index}`, [a]);
      t.equal(await registration.submit(device), 'committed');
    }
    const sixth = subscribe('reg', tenant.appId, 'd5', [a]);
    t.equal(await registration.submit(sixth), 'limit');
    t.equal(await registration.submit(subscribe('reg', tenant.appId, 'd3', [b])), 'committed');
    t.same(await tagsOf(sql, 'd3'), [a, b]);
    t.same(await tagsOf(sql, 'd5'), []);
  },

  'deleted tags leave room for others': async (t, store) => {
    const { appId, ...tenant } = await makeTenant(store.sql, 'acme');
    const [a = 0, b = 0] = await tenant.makeTags(2);
    const registration = makeRegistration(store, { tagsPerDeviceMax: 1 });
    const device = deviceRef(appId, 3, 'AB'.repeat(32));
    const register = (tagId: number) =>
      registration.submit({ kind: 'reg', device, tagIds: [tagId], attributes: NO_ATTRIBUTES });
    t.equal(await register(a), 'committed');
    t.equal(await register(b), 'tags-limited');
    await tenant.deleteTag(a);
    t.equal(await register(b), 'committed');
    t.same([...(await store.sql`select tag_ids as "tagIds" from devices`)], [{ tagIds: [b] }]);
  },

  'a device has no more tags than it may': async (t, { sql, ...store }) => {
    const tenant = await makeTenant(sql, 'acme');
    const tags = await tenant.makeTags(8);
    const registration = makeRegistration({ sql, ...store }, { tagsPerDeviceMax: 4 });
    const reg = (tagIds: readonly number[]) =>
      registration.submit(subscribe('reg', tenant.appId, 'x', tagIds));
    t.equal(await reg(tags.slice(0, 3)), 'committed');
    t.equal(await reg(tags.slice(0, 4)), 'committed', 'what it has does not count twice');
    t.equal(await reg(tags.slice(2, 6)), 'tags-limited');
    t.same(await tagsOf(sql, 'x'), tags.slice(0, 4));
    t.equal(await registration.submit(subscribe('set', tenant.appId, 'x', tags)), 'tags-limited');
    t.equal((await tagsOf(sql, 'x')).length, 4);
    t.equal(await registration.submit(subscribe('reg', tenant.appId, 'new', tags)), 'tags-limited');
    t.equal((await tagsOf(sql, 'new')).length, 4);
  },

  'ordinals: small apps waste little, and no ordinal is given twice over restarts': async (
    t,
    { sql, ...store },
  ) => {
    const tenant = await makeTenant(sql, 'acme');
    const [tag = 0] = await tenant.makeTags(1);
    for (const start of [0, 1, 2]) {
      const registration = makeRegistration({ sql, ...store });
      await Promise.all(
        Array.from({ length: 700 }, (_, index) =>
          registration.submit(subscribe('reg', tenant.appId, `d${start}.${index}`, [tag])),
        ),
      );
    }
    const [row] = await sql<{ devices: number; ordinals: number; last: number; mark: number }[]>`
      select count(*)::int as devices, count(distinct ordinal)::int as ordinals, max(ordinal) as last,
        (select next_ordinal from app_platforms where app_id = ${tenant.appId} and platform_id = 15) as mark
      from devices`;
    t.equal(row?.devices, 2_100);
    t.equal(row?.ordinals, 2_100);
    t.ok((row?.last ?? 0) < (row?.mark ?? 0), 'every ordinal lies below the mark');
    t.ok((row?.mark ?? 0) < 8_192, `the mark is at ${row?.mark}`);
  },

  'connections that break under load: what was answered committed is there': async (t, store) => {
    // The connection of the embedded one cannot be ended from within.
    if (store.address.kind === 'embedded') return;
    const tenant = await makeTenant(store.sql, 'acme');
    const [tag = 0] = await tenant.makeTags(1);
    const registration = makeRegistration(store);
    const committed = new Set<string>();
    let broken = 0;
    const submit = async (deviceId: string): Promise<void> => {
      const result = await registration.submit(subscribe('reg', tenant.appId, deviceId, [tag]));
      if (result === 'committed') committed.add(deviceId);
      else broken += 1;
    };
    for (let round = 0; round < 3; round += 1) {
      const submitted: Promise<void>[] = [];
      const submitMany = (from: number): void => {
        for (let index = from; index < from + 200; index += 1) {
          submitted.push(submit(`d${round}.${index}`));
        }
      };
      submitMany(0);
      await store.sql.begin(async (tx) => {
        // Looks go on, and a write is certainly in flight when its connection ends.
        await tx`lock table devices in exclusive mode`;
        submitMany(200);
        await untilLockWaits('a write waits', store.sql);
        await tx`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`;
      });
      await Promise.all(submitted);
    }
    t.ok(broken > 0, `${broken} were not committed`);
    // The first questions may go to connections that are gone too.
    const rows = await until('the database answers', () =>
      store.sql<{ id: string }[]>`
        select device_id as id from devices join ${subscriptions(store.sql)} using (app_id, platform_id, ordinal)`.catch(
        () => null,
      ),
    );
    const there = new Set(rows.map(({ id }) => id));
    t.same(
      [...committed].filter((deviceId) => !there.has(deviceId)),
      [],
    );
    // A lane's connection may be one of them as well.
    const after = subscribe('reg', tenant.appId, 'after', [tag]);
    await until('registrations are committed again', async () =>
      (await registration.submit(after)) === 'committed' ? true : null,
    );
  },

  'a database that has gone is an answer, and its return is noticed': async (
    t,
    { sql, ...store },
  ) => {
    const tenant = await makeTenant(sql, 'acme');
    const [tag = 0] = await tenant.makeTags(1);
    const registration = makeRegistration({ sql, ...store });
    await sql`alter table devices rename to devices_gone`;
    t.equal(await registration.submit(subscribe('reg', tenant.appId, 'x', [tag])), 'unavailable');
    await sql`alter table devices_gone rename to devices`;
    t.equal(await registration.submit(subscribe('reg', tenant.appId, 'x', [tag])), 'committed');
  },
});

/**
 * Thirty operations on one device, one after the other, on either node; answers the tags it must
 * have.
 */
async function liveOf(
  tenant: Tenant,
  deviceId: string,
  tagIds: readonly number[],
  nodes: readonly Registration[],
  seed: number,
): Promise<readonly number[]> {
  let tags = new Set<number>();
  for (let step = 0; step < 30; step += 1) {
    const number = (seed * 7_919 + step * 104_729) % 1_000_003;
    const some = tagIds.filter((_, index) => ((number >> index) & 1) === 1);
    const node = nodes[number % nodes.length];
    if (node === undefined) throw new Error('no node');
    switch (number % 5) {
      case 0:
        await node.submit(unsubscribe(tenant.appId, deviceId, 'all'));
        tags = new Set();
        break;
      case 1:
        await node.submit(unsubscribe(tenant.appId, deviceId, some));
        for (const tag of some) tags.delete(tag);
        break;
      case 2:
        await node.submit(subscribe('set', tenant.appId, deviceId, some));
        if (some.length > 0) tags = new Set(some);
        break;
      default:
        await node.submit(subscribe('reg', tenant.appId, deviceId, some));
        for (const tag of some) tags.add(tag);
    }
  }
  return [...tags].sort((one, other) => one - other);
}
