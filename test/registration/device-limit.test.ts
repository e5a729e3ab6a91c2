import t from 'tap';
import { DeviceLimit } from '../../src/registration/device-limit.ts';
import { changeClientLimits } from '../../src/store/clients/client-limits.ts';
import { onEachStore } from '../support/on-each-store.ts';
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
});
