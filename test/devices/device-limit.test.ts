import t from 'tap';
import { changeClientLimits } from '../../src/clients/client-limits.ts';
import { DeviceLimit } from '../../src/devices/device-limit.ts';
import { Ordinals } from '../../src/devices/ordinals.ts';
import { reserveOrdinals } from '../../src/devices/sql/reserve-ordinals.ts';
import { onEachStore } from '../support/on-each-store.ts';
import { until } from '../support/poll.ts';
import { seedDevices } from '../support/seed.ts';
import { makeTenant } from '../support/tenant.ts';

await onEachStore(t, {
  'as many are reserved as the app may still have, by one count': async (t, { sql }) => {
    const { appId } = await makeTenant(sql, 'limited');
    const scope = { appId, platformId: 3 };
    await seedDevices(sql, { ...scope, tagIds: [], count: 7 });
    const limit = new DeviceLimit(10);
    t.same(await limit.reserveCounted(sql, scope, 2), { next: 7, end: 9 });
    t.same(await limit.reserveCounted(sql, scope, 2), { next: 9, end: 10 });
    t.equal(await limit.reserveCounted(sql, scope, 2), null);
  },

  'of more apps than are remembered, the first is counted anew': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'many');
    const first = { appId: tenant.appId, platformId: 3 };
    const second = { appId: await tenant.makeApp(), platformId: 3 };
    await seedDevices(sql, { ...first, tagIds: [], count: 7 });
    const limit = new DeviceLimit(10, undefined, 1);
    t.same(await limit.reserveCounted(sql, first, 2), { next: 7, end: 9 });
    await limit.reserveCounted(sql, second, 1);
    t.same(await limit.reserveCounted(sql, first, 3), { next: 9, end: 12 }, 'no device was made');
  },

  'a count that failed is made again by the next': async (t, { sql }) => {
    const { appId } = await makeTenant(sql, 'uncounted');
    const scope = { appId, platformId: 3 };
    const limit = new DeviceLimit(10);
    await sql`alter table devices rename to hidden`;
    await t.rejects(limit.reserveCounted(sql, scope, 2));
    await sql`alter table hidden rename to devices`;
    t.same(await limit.reserveCounted(sql, scope, 2), { next: 0, end: 2 });
  },

  'all apps of a client together have its limit': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'client-limited');
    const scope = { appId: tenant.appId, platformId: 3 };
    const second = { appId: await tenant.makeApp(), platformId: 15 };
    await changeClientLimits(sql, 'client-limited', { devices: 10 });
    await seedDevices(sql, { ...scope, tagIds: [], count: 7 });
    const limit = new DeviceLimit(100);
    const range = { count: 128, alignment: 1 };
    t.same(await limit.reserve(sql, second, range, 2), { next: 0, end: 2 });
    t.same(await limit.reserve(sql, scope, range, 2), { next: 7, end: 8 });
    t.equal(await limit.reserve(sql, second, range, 1), null);
    await changeClientLimits(sql, 'client-limited', { devices: 1_000 });
    t.same(await limit.reserve(sql, second, { count: 64, alignment: 1 }, 1), { next: 2, end: 66 });
  },

  'lanes share what their client may still have': async (t, { sql }) => {
    const { appId } = await makeTenant(sql, 'lanes-limited');
    const scope = { appId, platformId: 3 };
    await changeClientLimits(sql, 'lanes-limited', { devices: 10 });
    await seedDevices(sql, { ...scope, tagIds: [], count: 7 });
    const limit = new DeviceLimit(100);
    const lanes = [new Ordinals(sql, limit), new Ordinals(sql, limit), new Ordinals(sql, limit)];
    const two = [scope, scope];
    // Connections that are open already, and a count that takes a while: the lanes learn at the
    // same moment what is free.
    await Promise.all(lanes.map(() => sql`select`));
    await sql`alter table devices rename to hidden`;
    await sql`create view devices as select * from hidden where (select pg_sleep(0.3)) is not null`;
    await Promise.all(lanes.slice(0, 2).map((lane) => lane.provideFor(two)));
    await lanes[2]?.provideFor(two);
    await sql`drop view devices`;
    await sql`alter table hidden rename to devices`;
    const taken = lanes.flatMap((lane) => [1, 2, 3].map(() => lane.take(scope)));
    const ordinals = taken.filter((ordinal) => ordinal !== null);
    t.same(ordinals.sort(), [7, 8, 9], 'each once');
    const [app] = await sql<{ end: number }[]>`
      select next_ordinal as "end" from app_platforms where app_id = ${appId} and platform_id = 3`;
    t.equal(app?.end, 10, 'no range was taken back');
  },

  'what was not reserved may be reserved later': async (t, { sql }) => {
    const { appId } = await makeTenant(sql, 'not-reserved');
    const scope = { appId, platformId: 3 };
    await changeClientLimits(sql, 'not-reserved', { devices: 10 });
    const limit = new DeviceLimit(100);
    const range = { count: 128, alignment: 1 };
    t.same(await limit.reserve(sql, scope, range, 6), { next: 0, end: 6 });
    t.equal(await limit.reserve(sql, { appId, platformId: 15_000 }, range, 4), null);
    await sql`alter table app_platforms add constraint no_more check (next_ordinal <= 6)`;
    await t.rejects(limit.reserve(sql, scope, range, 4));
    await sql`alter table app_platforms drop constraint no_more`;
    t.same(await limit.reserve(sql, scope, range, 9), { next: 6, end: 10 });
  },

  'a client is answered while it is counted again, and when that fails': async (t, { sql }) => {
    const { appId } = await makeTenant(sql, 'recounted');
    const scope = { appId, platformId: 3 };
    await changeClientLimits(sql, 'recounted', { devices: 10 });
    await seedDevices(sql, { ...scope, tagIds: [], count: 7 });
    const limit = new DeviceLimit(100, 0);
    const range = { count: 128, alignment: 1 };
    t.same(await limit.reserve(sql, scope, range, 1), { next: 7, end: 8 });
    await sql`alter table devices rename to hidden`;
    t.same(await limit.reserve(sql, scope, range, 1), { next: 8, end: 9 });
    await sql`alter table hidden rename to devices`;
    await sql`delete from devices`;
    await until('devices that are gone make room', async () => {
      const reserved = await limit.reserve(sql, scope, range, 10);
      return reserved !== null && reserved.end - reserved.next > 3 ? true : null;
    });
  },

  'a count has a time limit': async (t, { sql }) => {
    const { appId } = await makeTenant(sql, 'limited-count');
    const scope = { appId, platformId: 3 };
    await changeClientLimits(sql, 'limited-count', { devices: 10 });
    await seedDevices(sql, { ...scope, tagIds: [], count: 7 });
    const limit = new DeviceLimit(100);
    await sql`alter table devices rename to hidden`;
    await sql`create view devices as select * from hidden where current_setting('statement_timeout') = '1min'`;
    const reserved = await limit.reserve(sql, scope, { count: 128, alignment: 1 }, 9);
    await sql`drop view devices`;
    await sql`alter table hidden rename to devices`;
    t.same(reserved, { next: 7, end: 10 });
  },

  'a range without an ordinal is refused': async (t, { sql }) => {
    const { appId } = await makeTenant(sql, 'empty-range');
    const empty = { count: 0, alignment: 1, endMax: 10 };
    await t.rejects(reserveOrdinals(sql, { appId, platformId: 3 }, empty), RangeError);
  },
});
