import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import type { AudienceCondition } from '../../../src/domain/audience-condition.ts';
import { deviceKeyOf } from '../../../src/domain/device.ts';
import { SqlTagIndex } from '../../../src/tag-index/sql/sql-tag-index.ts';
import { TOKEN_BYTES_MAX } from '../../../src/tag-index/tag-index.ts';
import type { TagIndexBench } from '../../contract/tag-index.ts';
import {
  answersInPieces,
  deviceIdOf,
  seedWideDevices,
  tagIndexContract,
} from '../../contract/tag-index.ts';
import { makeTenant } from '../../support/notifications.ts';
import { seedDevices } from '../../support/seed.ts';
import { withStores } from '../../support/store.ts';

await withStores(t, async (t, store) => {
  await tagIndexContract(t, () => benchOn(store), 25);

  await t.test('a full group needs no statistics to be quick', async (t) => {
    await store.sql`truncate devices, device_group_tags`;
    const tenant = await makeTenant(store.sql, 'full');
    await seedDevices(store.sql, {
      appId: tenant.appId,
      platformId: 3,
      tagIds: [tenant.tagId],
      count: 16_384,
    });
    const index = new SqlTagIndex(store.sql);
    // A plan that compares every device with every other needs minutes: the time-out of the test.
    const run = await index.resolve({
      group: { appId: tenant.appId, platformId: 3, groupNumber: 1 },
      audience: { anyTagIds: [tenant.tagId], allTagIds: [], noneTagIds: [] },
      ordinalEnd: 16_384,
      expectedVersion: 1,
    });
    t.equal(run.deviceIds.length, 8_192);
    t.equal(run.offsets[8_191], 8_191);
  });

  await t.test('a test that hundreds of thousands of values meet', async (t) => {
    const { sql } = store;
    await sql`truncate devices, device_group_tags`;
    const { appId, tagId } = await makeTenant(sql, 'valued');
    await seedDevices(sql, { appId, platformId: 3, tagIds: [tagId], count: 3 });
    const ids = Array.from({ length: 200_000 }, (_, number) => 1_000_000 + number);
    await sql`update devices set facet_ids = ${[1_199_999]} where app_id = ${appId} and ordinal = 1`;
    const index = new SqlTagIndex(sql);
    const ordinalsOf = async (condition: AudienceCondition) => {
      const audience = { anyTagIds: [tagId], allTagIds: [], noneTagIds: [], facetIds: ids };
      const run = await index.resolve({
        group: { appId, platformId: 3, groupNumber: 0 },
        audience: { ...audience, condition },
        ordinalEnd: 3,
        expectedVersion: 1,
      });
      return [...run.offsets];
    };
    const none = ids.map((id) => -id);
    t.strictSame(await ordinalsOf({ or: ids }), [1], 'has one');
    t.strictSame(await ordinalsOf({ and: none }), [0, 2], 'has none');
    t.strictSame(await ordinalsOf({ or: [-tagId, { or: ids }] }), [1]);
    t.strictSame(await ordinalsOf({ and: [tagId, { and: none }] }), [0, 2]);
    t.strictSame(await ordinalsOf({ and: [{ or: ids }, { and: none }] }), []);
    t.strictSame(await ordinalsOf({ or: [{ or: ids }, { and: none }] }), [0, 1, 2]);
  });

  await t.test('of tokens that are too large together as many blocks as fit', async (t) => {
    const { sql } = store;
    await sql`truncate devices, device_group_tags`;
    const { appId, tagId } = await makeTenant(sql, 'wide');
    const scope = { appId, platformId: 15 };
    await seedWideDevices(sql, scope, tagId, 1_500);
    const options = { count: 1_500, bytesMax: TOKEN_BYTES_MAX };
    await answersInPieces(t, new SqlTagIndex(sql), scope, tagId, options);
  });
});

async function benchOn({ sql }: Store): Promise<TagIndexBench> {
  await sql`truncate devices, device_group_tags`;
  return {
    sql,
    index: new SqlTagIndex(sql),
    async setTags(scope, ordinal, tagIds, history) {
      const { appId, platformId } = scope;
      const deviceId = deviceIdOf(scope, ordinal);
      await sql`
        insert into devices (app_id, platform_id, ordinal, device_key, device_id, registered_at)
        values (${appId}, ${platformId}, ${ordinal}, ${deviceKeyOf(deviceId)}, ${deviceId}, now())
        on conflict do nothing`;
      await sql`
        update devices set refusals = ${history.refusals}, apns_environment = ${history.environment},
          tag_ids = ${[...tagIds].sort((a, b) => a - b)}::integer[]
        where app_id = ${appId} and platform_id = ${platformId} and ordinal = ${ordinal}`;
      await sql`
        insert into device_group_tags (app_id, platform_id, tag_id, group_number)
        select ${appId}, ${platformId}, tag_id, ${ordinal}::integer / 8192 from unnest(${[...tagIds]}::integer[]) as tag_id
        on conflict do nothing`;
    },
    versionOf: () => Promise.resolve(0),
    async erase({ appId, platformId }, ordinal) {
      await sql`
        delete from devices where app_id = ${appId} and platform_id = ${platformId} and ordinal = ${ordinal}`;
    },
  };
}
