/**
 * Taking a tag off devices, alone and beside registrations that give it to others of the same
 * group.
 */

import t from 'tap';
import type { SqlPool } from '../../../src/database/sql.ts';
import { deviceRef } from '../../../src/devices/operation.ts';
import {
  deletedTags,
  disconnectedTags,
  removeTags,
} from '../../../src/devices/sql/unwanted-tags.ts';
import { writeBatch } from '../../../src/devices/sql/write-batch.ts';
import { NO_ATTRIBUTES } from '../../../src/domain/device-attributes.ts';
import { makeRegistration } from '../../support/app-api.ts';
import { makeNotification } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { until } from '../../support/poll.ts';
import { withPostgresStore } from '../../support/store.ts';
import { makeTenant } from '../../support/tenant.ts';

const PLATFORM = 3;

const groupTags = async (sql: SqlPool): Promise<readonly number[]> =>
  (await sql<{ id: number }[]>`select tag_id as id from device_group_tags order by 1`).map(
    ({ id }) => id,
  );
const epoch = async (sql: SqlPool): Promise<number> =>
  (await sql<{ epoch: number }[]>`select tags_epoch as epoch from device_groups`)[0]?.epoch ?? -1;
const tagsOfDevices = async (sql: SqlPool): Promise<readonly (readonly number[])[]> =>
  (await sql<{ tagIds: number[] }[]>`select tag_ids as "tagIds" from devices order by ordinal`).map(
    ({ tagIds }) => tagIds,
  );

await onEachStore(t, {
  'a deleted tag stays on devices while an open push excludes it': async (t, store) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    const tags = await tenant.makeTags(4);
    const [target = 0, excluded = 0, negated = 0, free = 0] = tags;
    const registration = makeRegistration(store);
    const device = deviceRef(tenant.appId, PLATFORM, 'x');
    await registration.submit({ kind: 'reg', device, tagIds: tags, attributes: NO_ATTRIBUTES });
    await makeNotification(sql, { ...tenant, tagId: target });
    const [first, second] = [
      await makeNotification(sql, { ...tenant, tagId: target }),
      await makeNotification(sql, { ...tenant, tagId: target }),
    ];
    await sql`update notifications set none_tag_ids = array[${excluded}::integer] where id = ${first}::uuid`;
    const condition = { or: [target, { and: [target, -negated] }] };
    await sql`update notifications set audience_condition = ${JSON.stringify(condition)}::text::json where id = ${second}::uuid`;
    for (const tagId of [excluded, negated, free]) await tenant.deleteTag(tagId);
    const unwanted = async () =>
      (await deletedTags(sql, Date.now() + 60_000, 10)).flatMap(({ tagIds }) => tagIds);
    t.same(await unwanted(), [free]);
    await sql`update notifications set finished_at = now() where id = ${first}::uuid`;
    t.same(await unwanted(), [excluded, free]);
    await sql`update notifications set finished_at = now()`;
    t.same(await unwanted(), [excluded, negated, free]);
  },

  'a deleted tag is taken off a piece at a time, and its group forgets it with the last': async (
    t,
    store,
  ) => {
    const { sql } = store;
    const { appId, ...tenant } = await makeTenant(sql, 'acme');
    const [a = 0, b = 0] = await tenant.makeTags(2);
    const registration = makeRegistration(store);
    for (const name of ['x', 'y', 'z']) {
      const device = deviceRef(appId, PLATFORM, name);
      await registration.submit({ kind: 'reg', device, tagIds: [a, b], attributes: NO_ATTRIBUTES });
    }
    t.same(await groupTags(sql), [a, b]);
    await tenant.deleteTag(a);
    t.same(await deletedTags(sql, 0, 10), [], 'deleted too lately');
    const [unwanted, ...others] = await deletedTags(sql, Date.now() + 60_000, 10);
    if (unwanted === undefined) throw new Error('no unwanted tag');
    t.match(unwanted, { tagIds: [a], appId, platformId: PLATFORM, groupNumber: 0 });
    t.same(others, []);
    const first = await removeTags(sql, unwanted, 2);
    t.match(first, { devices: 2, changes: [{ groupNumber: 0 }] });
    t.same(await groupTags(sql), [a, b], 'somebody has it');
    const second = await removeTags(sql, unwanted, 2);
    t.match(second, { devices: 1 });
    t.same(await groupTags(sql), [b]);
    t.equal(await epoch(sql), 1);
    t.same(await tagsOfDevices(sql), [[b], [b], [b]]);
    t.same(await deletedTags(sql, Date.now() + 60_000, 10), []);
    const [days] =
      await sql`select sum(unsubscribed)::int as lost from tag_days where tag_id = ${a}`;
    t.same(days, { lost: 3 });
  },

  'a tag that is connected again meanwhile stays': async (t, store) => {
    const { sql } = store;
    const { appId, ...tenant } = await makeTenant(sql, 'acme');
    const [a = 0] = await tenant.makeTags(1);
    const registration = makeRegistration(store);
    const device = deviceRef(appId, PLATFORM, 'x');
    await registration.submit({ kind: 'reg', device, tagIds: [a], attributes: NO_ATTRIBUTES });
    await sql`update tags set app_ids = '{}' where id = ${a}`;
    const [unwanted] = await disconnectedTags(sql, 10);
    if (unwanted === undefined) throw new Error('no unwanted tag');
    await sql`update tags set app_ids = null where id = ${a}`;
    t.match(await removeTags(sql, unwanted, 10), { devices: 0 });
    t.same(await tagsOfDevices(sql), [[a]]);
    t.same(await groupTags(sql), [a]);
  },
});

await withPostgresStore(t, async (t, store) => {
  const { sql } = store;
  const { appId, ...tenant } = await makeTenant(sql, 'beside');
  const scope = { appId, platformId: PLATFORM };
  const group = { ...scope, groupNumber: 0 };
  const waiting = async (count: number): Promise<void> => {
    await until(`${count} wait`, async () => {
      const rows = await sql`
        select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      return rows.length === count ? true : null;
    });
  };

  await t.test('removed first: who knew of it writes it down again', async (t) => {
    const [a = 0] = await tenant.makeTags(1);
    const registration = makeRegistration(store);
    const register = (name: string) =>
      registration.submit({
        kind: 'reg',
        device: deviceRef(appId, PLATFORM, name),
        tagIds: [a],
        attributes: NO_ATTRIBUTES,
      });
    // So many that each of the lanes remembers that the group has the tag.
    for (let n = 0; n < 16; n += 1) await register(`known ${n}`);
    let result: Promise<string> = Promise.resolve('');
    await sql.begin(async (tx) => {
      await tx`select from device_groups where app_id = ${appId} for update`;
      result = register('late');
      await waiting(1);
      await tx`delete from device_group_tags where app_id = ${appId} and tag_id = ${a}`;
      await tx`update device_groups set tags_epoch = tags_epoch + 1 where app_id = ${appId}`;
    });
    t.equal(await result, 'committed');
    t.ok((await groupTags(sql)).includes(a));
  });

  await t.test('given first: it is not removed', async (t) => {
    const [b = 0] = await tenant.makeTags(1);
    await sql`
      insert into device_group_tags (app_id, platform_id, tag_id, group_number) values (${appId}, ${PLATFORM}, ${b}, 0)`;
    await tenant.deleteTag(b);
    const unwanted = { ...group, tagIds: [b] };
    let removed: Promise<unknown> = Promise.resolve();
    await sql.begin(async (tx) => {
      const place = { ...scope, ordinal: 4_000 };
      const { deviceKey, deviceId } = deviceRef(appId, PLATFORM, 'held');
      await writeBatch(tx, {
        updated: [],
        inserted: [
          {
            ...place,
            deviceKey,
            deviceId,
            registeredAtMs: null,
            unsubscribes: false,
            attributes: NO_ATTRIBUTES,
            tagIds: [b],
          },
        ],
        changes: [{ ...place, gained: [b], lost: [], subscribers: 0 }],
        groups: [{ ...group, knownTagIds: [], knownEpoch: 0, newTagIds: [b] }],
        slot: 0,
      });
      removed = removeTags(sql, unwanted, 10);
      await waiting(1);
    });
    t.match(await removed, { devices: 0 });
    t.ok((await groupTags(sql)).includes(b), 'the device that was under way has it');
    t.match(await removeTags(sql, unwanted, 10), { devices: 1 });
    t.notOk((await groupTags(sql)).includes(b));
  });
});
