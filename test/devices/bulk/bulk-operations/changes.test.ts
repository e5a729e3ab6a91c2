/** Bulk operations on every store: what becomes of each device. */

import t from 'tap';
import { insertBulkOperation } from '../../../../src/devices/sql/insert-operation.ts';
import { NO_FEED } from '../../../../src/tag-index/tag-index.ts';
import { makeAppApi } from '../../../support/app-api.ts';
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
import { tagsOf } from '../../../support/subscriptions.ts';

await onEachStore(t, {
  'a list: each device gets all of it or nothing; again, nothing changes': async (t, store) => {
    const { sql } = store;
    const { appId, makeTags, subscribe, unsubscribe, read } = await openBulkScene(store);
    const [news = 0, goals = 0, other = 0] = await makeTags(3);
    const known = names('d', 450);
    await seedDevices(sql, {
      appId,
      platformId: 15,
      tagIds: [other],
      count: 450,
      deviceIds: known,
    });
    const [before] = await sql`select min(registered_at) as at from devices`;
    const id = await subscribe([news, goals], [...known, 'nobody', 'no-one']);
    t.match(await read(id), { state: 'QUEUED', changed: 0, startedAtMs: null });
    const node = nodeOn(sql);
    t.equal(await node.runPiece(), true);
    t.match(await read(id), { state: 'RUNNING', changed: 100, endedAtMs: null });
    t.equal(await runAll(sql, node), 4);
    t.match(await read(id), { state: 'FINISHED', changed: 450, unknown: 2, unchanged: 0 });
    t.same(
      await tagsOf(sql, 'd449'),
      [news, goals, other].sort((one, other) => one - other),
    );
    t.equal(await tagsOf(sql, 'nobody'), null, 'no device is made');
    await checkTruth(t, sql);
    const [after] = await sql`select min(registered_at) as at from devices`;
    t.same(after?.['at'], before?.['at'], 'their apps have said nothing');
    t.match(
      [...(await sql`select device_keys as keys from bulk_operations`)],
      [{ keys: null }],
      'the keys are gone with the end',
    );

    const version = async () => (await sql`select version from device_groups`)[0]?.['version'];
    const written = await version();
    const again = await subscribe([news, goals], [...known, 'nobody']);
    await runAll(sql, node);
    t.match(await read(again), { state: 'FINISHED', changed: 0, unchanged: 450, unknown: 1 });
    t.equal(await version(), written, 'a repetition writes nothing');

    const back = await unsubscribe([news, goals, other], known.slice(0, 10));
    await runAll(sql, node);
    t.match(await read(back), { state: 'FINISHED', changed: 10 });
    t.same(await tagsOf(sql, 'd9'), []);
    const [kept] =
      await sql`select count(*) as count from devices where unsubscribed_at is not null`;
    t.match(kept, { count: 10 }, 'they are kept for their days, as by ureg');
    await checkTruth(t, sql);
  },

  'members are copied, moved and removed, in all groups, apps and platforms': async (t, store) => {
    const { sql } = store;
    const { appId, makeApp, makeTags, makeTag, copy, move, remove, read } =
      await openBulkScene(store);
    const second = await makeApp();
    const [old = 0, fresh = 0] = await makeTags(2);
    const ofFirst = await makeTag({ appIds: [appId] });
    const scopes = [`${appId}/15`, `${appId}/3`, `${second}/3`] as const;
    await seedDevices(sql, { appId, platformId: 15, tagIds: [old], count: 450 });
    // More groups than one piece looks at.
    await seedDevices(sql, { appId, platformId: 3, tagIds: [old, fresh], count: 30, step: 8_192 });
    await seedDevices(sql, { appId: second, platformId: 3, tagIds: [old], count: 7 });
    const all = { [scopes[0]]: 450, [scopes[1]]: 30, [scopes[2]]: 7 };
    const node = nodeOn(sql);

    const copied = await copy(old, fresh);
    await runAll(sql, node);
    t.match(await read(copied), { state: 'FINISHED', changed: 457, unchanged: 30, refused: 0 });
    t.same(await membersOf(sql, old), all);
    t.same(await membersOf(sql, fresh), all);
    await checkTruth(t, sql);

    const moved = await move(old, ofFirst);
    await runAll(sql, node);
    t.match(await read(moved), { state: 'FINISHED', changed: 480, refused: 7 });
    t.same(
      await membersOf(sql, old),
      { [scopes[2]]: 7 },
      'who cannot have the new one keeps the old',
    );
    t.same(await membersOf(sql, ofFirst), { [scopes[0]]: 450, [scopes[1]]: 30 });
    const [gone] =
      await sql`select count(*) as count from devices where unsubscribed_at is not null`;
    t.match(gone, { count: 0 }, 'who is moved has not unsubscribed');
    await checkTruth(t, sql);

    const removed = await remove(fresh);
    await runAll(sql, node);
    t.match(await read(removed), { state: 'FINISHED', changed: 487 });
    t.same(await membersOf(sql, fresh), {});
    await checkTruth(t, sql);
  },

  'only in the apps that the tag was for when it was accepted': async (t, store) => {
    const { sql } = store;
    const scene = await openBulkScene(store);
    const { appId, clientId, makeApp, makeTags, read } = scene;
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
    await runAll(sql, nodeOn(sql));
    t.match(await read(id), { state: 'FINISHED', changed: 4 });
    t.same(await membersOf(sql, fresh), { [`${second}/3`]: 4 });
  },

  'what an app says first counts, and a refusal stays': async (t, store) => {
    const { sql } = store;
    const { appId, caller, makeTags, copy, read } = await openBulkScene(store);
    const [old = 0, fresh = 0] = await makeTags(2);
    const known = ['stays', 'leaves'];
    await seedDevices(sql, { appId, platformId: 15, tagIds: [old], count: 2, deviceIds: known });
    await sql`update devices set refusals = 2, refused_at = now()`;
    const id = await copy(old, fresh);
    const api = makeAppApi(store);
    t.teardown(() => api.registration.drain());
    await api.call('ureg', caller, { appId, platformId: 15, deviceId: 'leaves', tagId: old });
    await runAll(sql, nodeOn(sql));
    t.match(await read(id), { state: 'FINISHED', changed: 1, unchanged: 0 });
    t.same(await tagsOf(sql, 'leaves'), []);
    const [row] = await sql`select refusals from devices where device_id = 'stays'`;
    t.match(row, { refusals: 2 });
  },

  'the limit of tags of a device: full, but for deleted ones': async (t, store) => {
    const { sql } = store;
    const scene = await openBulkScene(store);
    const { appId, makeTags, deleteTag, copy, move, read } = scene;
    const [old = 0, second = 0, third = 0, fresh = 0] = await makeTags(4);
    const seed = { appId, platformId: 15, count: 1 };
    await seedDevices(sql, { ...seed, tagIds: [old], deviceIds: ['room'] });
    await seedDevices(sql, { ...seed, tagIds: [old, second], deviceIds: ['full'] });
    await seedDevices(sql, { ...seed, tagIds: [old, second, third], deviceIds: ['beyond'] });
    const node = nodeOn(sql, NO_FEED, 2);
    const copied = await copy(old, fresh);
    await runAll(sql, node);
    t.match(await read(copied), { changed: 1, full: 2 });
    const moved = await move(old, fresh);
    await runAll(sql, node);
    t.match(await read(moved), { changed: 2, full: 1 }, 'one for another');
    t.same(await tagsOf(sql, 'beyond'), [old, second, third], 'it loses nothing for nothing');
    await deleteTag(third);
    const again = await move(old, fresh);
    await runAll(sql, node);
    t.match(await read(again), { changed: 1, full: 0 });
    t.same(
      await tagsOf(sql, 'beyond'),
      [second, fresh].sort((one, other) => one - other),
    );
    await checkTruth(t, sql);
  },

  'a piece has fewer devices when they get many tags': async (t, store) => {
    const { sql } = store;
    const { appId, makeTags, subscribe, read } = await openBulkScene(store);
    const tagIds = await makeTags(100);
    const known = names('d', 60);
    const seed = { platformId: 15, tagIds: [], count: 60, deviceIds: known };
    await seedDevices(sql, { ...seed, appId });
    const id = await subscribe(tagIds, known);
    const node = nodeOn(sql);
    await node.runPiece();
    t.match(await read(id), { state: 'RUNNING', changed: 50 });
    await runAll(sql, node);
    t.match(await read(id), { state: 'FINISHED', changed: 60 });
    await checkTruth(t, sql);
  },
});
