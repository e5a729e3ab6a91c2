/** A device that is erased is in the index no more: a real Redis beside a real PostgreSQL. */

import t from 'tap';
import { createEraser } from '../../src/devices/erase-device.ts';
import type { DeviceRef } from '../../src/devices/operation.ts';
import { deviceRef } from '../../src/devices/operation.ts';
import { NO_FEED } from '../../src/tag-index/tag-index.ts';
import { addTenant } from '../support/api.ts';
import { makeTag } from '../support/notifications.ts';
import { until } from '../support/poll.ts';
import { indexDifferences, openNodeIndex, staleGroups } from '../support/redis-index.ts';
import { startRedis, withRedis } from '../support/redis-server.ts';
import { seedDevices } from '../support/seed.ts';
import { withPostgresStore } from '../support/store.ts';
import { untilLockWaits } from '../support/until-lock-waits.ts';

await withRedis(t, (t) =>
  withPostgresStore(t, async (t, { sql }) => {
    const redis = await startRedis(t);
    const { client, name, feed, repairs } = await openNodeIndex(t, sql, {
      kind: 'single',
      url: redis.url,
    });
    const { clientId, appId } = await addTenant(sql, 'acme');
    const tagIds = [await makeTag(sql, clientId, {})];
    const deviceIds = ['a', 'b', 'c'].map((digit) => digit.repeat(64));
    await seedDevices(sql, { appId, platformId: 3, tagIds, count: 3, deviceIds });
    repairs.ask([{ appId, platformId: 3, groupNumber: 0 }]);
    await until('the index is there', async () =>
      (await staleGroups(sql, client, name.current)).length === 0 ? true : null,
    );

    const eraser = createEraser(sql, feed);
    const actor = { kind: 'credential', name: 'acme' } as const;
    const origin = { clientId, actor, address: null, requestId: null };
    const erase = async (device: DeviceRef) => (await eraser(device, origin))?.device ?? null;
    const [, second = ''] = deviceIds;
    t.match(await erase(deviceRef(appId, 3, second)), { deviceId: second, tags: [{}] });
    t.same(await staleGroups(sql, client, name.current), [], 'the index has the change');
    t.same(await indexDifferences(sql, client, name.current), []);
    const left = await sql`select device_id as "deviceId" from devices order by ordinal`;
    t.same([...left], [{ deviceId: deviceIds[0] }, { deviceId: deviceIds[2] }]);
    t.equal(await erase(deviceRef(appId, 3, second)), null);
    const entries = await sql`select action, object_id as id from audit_entries`;
    t.same([...entries], [{ action: 'device.erase', id: deviceRef(appId, 3, second).deviceKey }]);
    t.same(await staleGroups(sql, client, name.current), []);
  }),
);

await withPostgresStore(t, async (t, { sql }) => {
  const { clientId, appId } = await addTenant(sql, 'acme');
  const actor = { kind: 'operator' } as const;
  const origin = { clientId, actor, address: null, requestId: null };
  const eraser = createEraser(sql, NO_FEED);
  const first = deviceRef(appId, 3, 'a'.repeat(64));
  const second = deviceRef(appId, 3, 'b'.repeat(64));
  const deviceIds = [first.deviceId, second.deviceId];
  await seedDevices(sql, { appId, platformId: 3, tagIds: [], count: 2, deviceIds });
  const someoneWaits = () => untilLockWaits('the eraser waits', sql);

  await t.test('it waits for its client before it locks the device', async (t) => {
    let erasing: Promise<unknown> = Promise.resolve();
    // Compaction does this: the client first, then its rows.
    await sql.begin(async (tx) => {
      await tx`select from clients where id = ${clientId} for update`;
      erasing = eraser(first, origin);
      await someoneWaits();
      const free = await tx`
        select ordinal from devices where device_key = ${first.deviceKey}::uuid for update skip locked`;
      t.same([...free], [{ ordinal: 0 }], 'the device is not locked');
    });
    t.match(await erasing, { device: { deviceId: first.deviceId } });
  });

  await t.test('events of whoever erases the device at the same time go too', async (t) => {
    let erasing: Promise<unknown> = Promise.resolve();
    // Deletions do this: the device, then its event, then its end.
    await sql.begin(async (tx) => {
      await tx`select from devices where device_key = ${second.deviceKey}::uuid for update`;
      erasing = eraser(second, origin);
      await someoneWaits();
      await tx`
        insert into device_events (device_key, app_id, platform_id, kind, reason)
        values (${second.deviceKey}::uuid, ${appId}, 3, 'removed', 'dead')`;
      await tx`delete from devices where device_key = ${second.deviceKey}::uuid`;
    });
    t.match(await erasing, { device: null });
    t.same(await sql`select kind from device_events`, []);
  });
});
