/** A device that is erased is in the index no more: a real Redis beside a real PostgreSQL. */

import t from 'tap';
import { createEraser } from '../../src/registration/erase-device.ts';
import type { DeviceRef } from '../../src/registration/operation.ts';
import { deviceRef } from '../../src/registration/operation.ts';
import { addTenant } from '../support/api.ts';
import { makeTag } from '../support/notifications.ts';
import { until } from '../support/poll.ts';
import { indexDifferences, openNodeIndex, staleGroups } from '../support/redis-index.ts';
import { startRedis, withRedis } from '../support/redis-server.ts';
import { seedDevices } from '../support/seed.ts';
import { withPostgresStore } from '../support/store.ts';

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
    const erase = (device: DeviceRef) => eraser(device, origin);
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
