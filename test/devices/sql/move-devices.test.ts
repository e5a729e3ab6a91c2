import t from 'tap';
import { moveDevices } from '../../../src/devices/sql/move-devices.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { seedDevices } from '../../support/seed.ts';
import { makeTenant } from '../../support/tenant.ts';

const PLATFORM = 3;

await onEachStore(t, {
  'a group that everybody has left has no tags any more': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'acme');
    const tagIds = await tenant.makeTags(3);
    await seedDevices(sql, { appId: tenant.appId, platformId: PLATFORM, tagIds, count: 2 });
    const group = { appId: tenant.appId, platformId: PLATFORM, groupNumber: 0 };
    const moved = await moveDevices(sql, group, [
      { from: 0, to: 81_920 },
      { from: 1, to: 81_921 },
    ]);
    t.match(moved, { isVacant: true, devices: 2 });
    const rows = await sql<{ groupNumber: number }[]>`
      select distinct group_number as "groupNumber" from device_group_tags`;
    t.same([...rows], [{ groupNumber: 10 }]);
    const [left] = await sql`select tags_epoch as epoch from device_groups where group_number = 0`;
    t.same(left, { epoch: 1 });
  },
});
