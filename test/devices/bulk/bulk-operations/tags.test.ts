/** Bulk operations on every store, while their tags go away. */

import t from 'tap';
import { Housekeeping } from '../../../../src/app/upkeep/housekeeping.ts';
import type { SqlPool } from '../../../../src/database/sql.ts';
import { insertBulkOperation } from '../../../../src/devices/sql/insert-operation.ts';
import { NO_FEED } from '../../../../src/tag-index/tag-index.ts';
import { silent } from '../../../support/app-api.ts';
import {
  checkTruth,
  membersOf,
  names,
  nodeOn,
  openBulkScene,
  runAll,
} from '../../../support/bulk-operations.ts';
import { onEachStore } from '../../../support/on-each-store.ts';
import { seedDevices } from '../../../support/seed.ts';
import { SILENT_JOURNAL } from '../../../support/silent-journal.ts';

const DAY_MS = 86_400_000;

const housekeepingOn = (sql: SqlPool) =>
  new Housekeeping({
    journal: SILENT_JOURNAL,
    sql,
    feed: NO_FEED,
    log: silent,
    deviceRetentionMs: 30 * DAY_MS,
    notificationRetentionDays: 90,
    reachRetentionDays: 7,
  });

await onEachStore(t, {
  'a new tag that goes away: nobody loses the old one for it': async (t, store) => {
    const { sql } = store;
    const scene = await openBulkScene(store);
    const { appId, makeTags, makeTag, deleteTag, move, subscribe, read } = scene;
    const [old = 0, fresh = 0] = await makeTags(2);
    const expired = await makeTag({ expiresAtMs: Date.now() - 1_000 });
    const known = names('d', 5);
    await seedDevices(sql, { appId, platformId: 15, tagIds: [old], count: 5, deviceIds: known });
    const moved = await move(old, fresh);
    const both = await subscribe([fresh, expired], known);
    await deleteTag(fresh);
    await runAll(sql, nodeOn(sql));
    t.match(await read(moved), { state: 'FINISHED', changed: 0, refused: 5 });
    t.match(await read(both), { state: 'FINISHED', changed: 0, refused: 5 });
    t.same(await membersOf(sql, old), { [`${appId}/15`]: 5 });
  },

  'a tag that is disconnected meanwhile: its members are moved before they lose it': async (
    t,
    store,
  ) => {
    const { sql } = store;
    const { appId, makeApp, makeTags, move, read } = await openBulkScene(store);
    const second = await makeApp();
    const [old = 0, fresh = 0] = await makeTags(2);
    await seedDevices(sql, { appId, platformId: 15, tagIds: [old], count: 5 });
    const id = await move(old, fresh);
    await sql`update tags set app_ids = array[${second}::integer] where id = ${old}`;
    const housekeeping = housekeepingOn(sql);
    await housekeeping.run(Date.now());
    t.same(await membersOf(sql, old), { [`${appId}/15`]: 5 }, 'it waits for the operation');
    await runAll(sql, nodeOn(sql));
    t.match(await read(id), { state: 'FINISHED', changed: 5 });
    t.same(await membersOf(sql, fresh), { [`${appId}/15`]: 5 });
    await sql`update bulk_operations set ended_at = now() - interval '6 days'`;
    await housekeeping.run(Date.now());
    t.equal((await read(id)).state, 'FINISHED');
    await sql`update bulk_operations set ended_at = now() - interval '8 days'`;
    await housekeeping.run(Date.now());
    await t.rejects(read(id), /no operation/, 'any run forgets what ended a week ago');
  },

  'a disconnected tag waits for operations in its apps only, and goes in the next run': async (
    t,
    store,
  ) => {
    const { sql } = store;
    const { appId, clientId, makeApp, makeTags, read } = await openBulkScene(store);
    const second = await makeApp();
    const [old = 0, fresh = 0] = await makeTags(2);
    await seedDevices(sql, { appId, platformId: 3, tagIds: [old], count: 3 });
    await seedDevices(sql, { appId: second, platformId: 3, tagIds: [old], count: 4 });
    const id = await insertBulkOperation(sql, {
      clientId,
      userName: 'test',
      action: 'copy',
      memberOf: old,
      subscribe: [fresh],
      unsubscribe: [],
      listed: null,
      appIds: [second],
      total: 4,
    });
    await sql`update tags set app_ids = '{}' where id = ${old}`;
    const housekeeping = housekeepingOn(sql);
    housekeeping.unwantedTags.expectDisconnected(old);
    const nowMs = Date.now();
    await housekeeping.run(nowMs);
    t.same(await membersOf(sql, old), { [`${second}/3`]: 4 });
    await runAll(sql, nodeOn(sql));
    t.match(await read(id), { state: 'FINISHED', changed: 4 });
    await housekeeping.run(nowMs + 10_000);
    t.same(await membersOf(sql, old), {}, 'no sweep is due');
    await checkTruth(t, sql);
  },
});
