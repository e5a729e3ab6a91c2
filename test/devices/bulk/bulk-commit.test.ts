/** A tag's members when others move, replace or erase them during a piece. */

import type { Test } from 'tap';
import t from 'tap';
import type { SqlPool } from '../../../src/database/sql.ts';
import { moveDevices } from '../../../src/devices/sql/move-devices.ts';
import { moveDevice } from '../../../src/devices/sql/replace-device.ts';
import { deviceKeyOf, GROUP_DEVICES } from '../../../src/domain/device.ts';
import { NO_ATTRIBUTES } from '../../../src/domain/device-attributes.ts';
import {
  checkTruth,
  membersOf,
  nodeOn,
  openBulkScene,
  runAll,
} from '../../support/bulk-operations.ts';
import { interposed } from '../../support/interposed.ts';
import { seedDevices } from '../../support/seed.ts';
import { withPostgresStore } from '../../support/store.ts';
import { tagsOf } from '../../support/subscriptions.ts';
import { untilLockWaits } from '../../support/until-lock-waits.ts';

const PLATFORM = 15;
/** A part of the statement that reads the members in a group. */
const MEMBERS_READ = 'order by ordinal limit';
const LATER_GROUP = 9;

/** Compaction: the first devices of the first group go to a later one. */
async function compact(t: Test, sql: SqlPool, appId: number, devices: number): Promise<void> {
  const moves = Array.from({ length: devices }, (_, from) => ({
    from,
    to: LATER_GROUP * GROUP_DEVICES + 1_000 + from,
  }));
  const group = { appId, platformId: PLATFORM, groupNumber: 0 };
  t.match(await moveDevices(sql, group, moves), { devices });
}

await t.test('compaction before the last groups are read: nobody is missed', (t) =>
  withPostgresStore(t, async (t, store) => {
    const { sql } = store;
    const { appId, makeTags, move, read } = await openBulkScene(store);
    const [old = 0, fresh = 0] = await makeTags(2);
    await seedDevices(sql, { appId, platformId: PLATFORM, tagIds: [old], count: 5 });
    const id = await move(old, fresh);
    const meanwhile = interposed(sql, MEMBERS_READ, 1, () => compact(t, sql, appId, 5));
    await runAll(sql, nodeOn(meanwhile));
    t.match(await read(id), { state: 'FINISHED', changed: 5 });
    t.same(await membersOf(sql, fresh), { [`${appId}/${PLATFORM}`]: 5 });
    await checkTruth(t, sql);
  }),
);

await t.test('compaction between two groups of a piece: nobody is counted twice', (t) =>
  withPostgresStore(t, async (t, store) => {
    const { sql } = store;
    const { appId, makeTags, copy, read } = await openBulkScene(store);
    const [old = 0, fresh = 0] = await makeTags(2);
    const seed = { appId, platformId: PLATFORM, tagIds: [old], step: GROUP_DEVICES };
    await seedDevices(sql, { ...seed, count: LATER_GROUP + 1 });
    const id = await copy(old, fresh);
    // All groups are known, and of the first one the member has been read.
    const meanwhile = interposed(sql, MEMBERS_READ, 2, () => compact(t, sql, appId, 1));
    await runAll(sql, nodeOn(meanwhile));
    t.match(await read(id), { state: 'FINISHED', changed: LATER_GROUP + 1, unchanged: 0 });
    t.same(await membersOf(sql, fresh), { [`${appId}/${PLATFORM}`]: LATER_GROUP + 1 });
    await checkTruth(t, sql);
  }),
);

await t.test('a token that is replaced while the piece waits for it is met again', (t) =>
  withPostgresStore(t, async (t, store) => {
    const { sql } = store;
    const { appId, makeTags, copy, read } = await openBulkScene(store);
    const [old = 0, fresh = 0] = await makeTags(2);
    const deviceIds = ['first', 'replaced', 'erased', 'last'];
    const seed = { appId, platformId: PLATFORM, tagIds: [old] };
    await seedDevices(sql, { ...seed, count: deviceIds.length, deviceIds });
    const id = await copy(old, fresh);
    let piece: Promise<boolean> | null = null;
    await sql.begin(async (tx) => {
      const to = { deviceKey: deviceKeyOf('new'), deviceId: 'new', attributes: NO_ATTRIBUTES };
      await moveDevice(tx, { appId, platformId: PLATFORM, ordinal: 1 }, to);
      await tx`delete from devices where device_id = 'erased'`;
      piece = nodeOn(sql).runPiece();
      await untilLockWaits('the piece waits for the devices', sql);
    });
    t.equal(await piece, true);
    await runAll(sql, nodeOn(sql));
    t.match(await read(id), { state: 'FINISHED', changed: 3, unchanged: 0, unknown: 0 });
    for (const deviceId of ['first', 'new', 'last']) {
      t.same(await tagsOf(sql, deviceId), [old, fresh], deviceId);
    }
  }),
);
