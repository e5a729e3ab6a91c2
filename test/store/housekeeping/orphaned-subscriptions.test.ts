import t from 'tap';
import { deviceRef } from '../../../src/registration/operation.ts';
import { lockDevices } from '../../../src/store/devices/lock-devices.ts';
import { raiseGroups } from '../../../src/store/devices/raise-groups.ts';
import { removeOrphans } from '../../../src/store/housekeeping/orphaned-subscriptions.ts';
import { changeSubscriptions } from '../../../src/store/subscriptions/change-subscriptions.ts';
import { makeRegistration } from '../../support/app-api.ts';
import { withPostgresStore } from '../../support/store.ts';
import { makeTenant } from '../../support/tenant.ts';

await withPostgresStore(t, async (t, store) => {
  const { sql } = store;
  await t.test('a device that registers in this moment is left for the next time', async (t) => {
    const { appId, makeTag } = await makeTenant(sql, 'acme');
    const tagId = await makeTag();
    const device = deviceRef(appId, 15, 'phone');
    await makeRegistration(store).submit({
      kind: 'reg',
      device,
      tagIds: [tagId],
      appVersion: null,
      countsTags: false,
    });
    const orphanage = { appId, platformId: 15, tagId };
    const version = await sql.begin(async (tx) => {
      // It registers again, and finds its subscription there.
      const [found] = await lockDevices(tx, [device]);
      const row = { appId, platformId: 15, ordinal: found?.ordinal ?? -1, tagId };
      await changeSubscriptions(tx, { added: [row], cleared: [] }, 0);
      await sql`update tags set app_ids = '{}' where id = ${tagId}`;
      t.equal((await removeOrphans(sql, orphanage, 10)).count, 0);
      const [raised] = await raiseGroups(tx, [{ appId, platformId: 15, groupNumber: 0 }]);
      return raised?.version ?? 0;
    });
    const { count, changes } = await removeOrphans(sql, orphanage, 10);
    t.equal(count, 1);
    t.equal(changes[0]?.version, version + 1, 'the index hears of it last');
  });
});
