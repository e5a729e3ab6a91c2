/**
 * Bulk operations on every store: what becomes of each device, also when nodes die between any two
 * statements, when apps speak meanwhile, and when tags go away.
 */

import t from 'tap';
import { insertBulkOperation } from '../../src/store/bulk-operations/insert-operation.ts';
import {
  cancelBulkOperation,
  readBulkOperation,
} from '../../src/store/bulk-operations/read-operations.ts';
import type { SqlPool } from '../../src/store/sql.ts';
import { NO_FEED } from '../../src/tag-index/tag-index.ts';
import { Housekeeping } from '../../src/upkeep/housekeeping.ts';
import { makeAppApi, silent } from '../support/app-api.ts';
import {
  checkTruth,
  membersOf,
  names,
  nodeOn,
  openBulkScene,
  rested,
  runAll,
} from '../support/bulk-operations.ts';
import { mortal } from '../support/mortal.ts';
import { onEachStore } from '../support/on-each-store.ts';
import { until } from '../support/poll.ts';
import { indexDifferences, openNodeIndex, staleGroups } from '../support/redis-index.ts';
import { startRedis, withRedis } from '../support/redis-server.ts';
import { seedDevices } from '../support/seed.ts';
import { SILENT_JOURNAL } from '../support/silent-journal.ts';
import { withPostgresStore } from '../support/store.ts';
import { tagsOf } from '../support/subscriptions.ts';
import { untilLockWaits } from '../support/until-lock-waits.ts';

const DAY_MS = 86_400_000;

const housekeepingOn = (sql: SqlPool) =>
  new Housekeeping({
    journal: SILENT_JOURNAL,
    sql,
    feed: NO_FEED,
    log: silent,
    deviceRetentionMs: 30 * DAY_MS,
    notificationRetentionDays: 90,
  });

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

  'nodes die between any two statements: each device is changed and counted once': async (
    t,
    store,
  ) => {
    const { sql } = store;
    const { appId, makeTags, move, subscribe, read } = await openBulkScene(store);
    const [old = 0, fresh = 0, more = 0] = await makeTags(3);
    const known = names('d', 700);
    await seedDevices(sql, { appId, platformId: 15, tagIds: [old], count: 700, deviceIds: known });
    const moved = await move(old, fresh);
    const listed = await subscribe([more], known);
    let deaths = 0;
    for (let statements = 0; (await read(listed)).state !== 'FINISHED'; statements += 1) {
      await rested(sql);
      await nodeOn(mortal(sql, statements))
        .runPiece()
        .catch((error: unknown) => {
          t.match(error, { message: 'killed' });
          deaths += 1;
        });
    }
    t.ok(deaths > 8, `${deaths} deaths`);
    t.match(await read(moved), { state: 'FINISHED', changed: 700, unchanged: 0 });
    t.match(await read(listed), { state: 'FINISHED', changed: 700, unchanged: 0 });
    t.same(await membersOf(sql, old), {});
    t.same(await membersOf(sql, fresh), { [`${appId}/15`]: 700 });
    await checkTruth(t, sql);
  },

  'several nodes and the apps themselves at once: nobody is counted twice': async (t, store) => {
    const { sql } = store;
    const { appId, caller, makeTags, move, read } = await openBulkScene(store);
    const [old = 0, fresh = 0, own = 0] = await makeTags(3);
    const known = names('d', 600);
    await seedDevices(sql, { appId, platformId: 15, tagIds: [old], count: 600, deviceIds: known });
    const api = makeAppApi(store);
    t.teardown(() => api.registration.drain());
    const id = await move(old, fresh);
    const call = (endpoint: string, deviceId: string, tagId: number) =>
      api.call(endpoint, caller, { appId, platformId: 15, deviceId, tagId });
    const work = async () => {
      while (await rested(sql)) await nodeOn(sql).runPiece();
    };
    const apps = known
      .slice(0, 300)
      .map((deviceId, n) =>
        n % 3 === 0 ? call('ureg', deviceId, old) : call('reg', deviceId, own),
      );
    const answers = await Promise.all([...apps, work(), work()]);
    t.ok(answers.every((answer) => answer === undefined || answer.status === 200));
    const { changed, unchanged } = await read(id);
    t.ok(changed >= 500 && changed + unchanged <= 600, `${changed} and ${unchanged}`);
    t.same(await membersOf(sql, old), {});
    t.same(await membersOf(sql, fresh), { [`${appId}/15`]: changed });
    t.same(await membersOf(sql, own), { [`${appId}/15`]: 200 });
    await checkTruth(t, sql);
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
    housekeeping.expectDisconnected(old);
    const nowMs = Date.now();
    await housekeeping.run(nowMs);
    t.same(await membersOf(sql, old), { [`${second}/3`]: 4 });
    await runAll(sql, nodeOn(sql));
    t.match(await read(id), { state: 'FINISHED', changed: 4 });
    await housekeeping.run(nowMs + 10_000);
    t.same(await membersOf(sql, old), {}, 'no sweep is due');
    await checkTruth(t, sql);
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

  'one after the other of a client, in turn with others; cancelled in the middle': async (
    t,
    store,
  ) => {
    const { sql } = store;
    const { appId, clientId, makeTags, subscribe, unsubscribe, read } = await openBulkScene(store);
    const other = await openBulkScene(store, 'other');
    const [news = 0] = await makeTags(1);
    const [theirs = 0] = await other.makeTags(1);
    const known = names('d', 500);
    const seed = { platformId: 15, tagIds: [], count: 500, deviceIds: known };
    await seedDevices(sql, { ...seed, appId });
    await seedDevices(sql, { ...seed, appId: other.appId });
    const first = await subscribe([news], known);
    const second = await unsubscribe([news], known);
    const last = await other.subscribe([theirs], known);
    const node = nodeOn(sql);
    await node.runPiece();
    await node.runPiece();
    t.match(await read(first), { state: 'RUNNING', changed: 100 });
    t.match(await read(second), { state: 'QUEUED' });
    t.match(await other.read(last), { state: 'RUNNING', changed: 100 }, 'it had its turn');

    const owner = { clientId, userName: null };
    t.equal(await cancelBulkOperation(sql, { ...owner, clientId: other.clientId }, first), false);
    t.equal(await cancelBulkOperation(sql, { ...owner, userName: 'another' }, first), false);
    t.equal(await cancelBulkOperation(sql, owner, first), true);
    t.match(await readBulkOperation(sql, owner, first), { state: 'CANCELLED', changed: 100 });
    t.equal(await cancelBulkOperation(sql, owner, first), false, 'again');
    await runAll(sql, node);
    t.match(await read(first), { state: 'CANCELLED', changed: 100 }, 'what is done stays done');
    t.match(await read(second), { state: 'FINISHED', changed: 100, unchanged: 400 });
    t.equal(await cancelBulkOperation(sql, owner, second), false);
    t.match(await readBulkOperation(sql, owner, second), { state: 'FINISHED' });
    t.match(await other.read(last), { state: 'FINISHED', changed: 500 });
    await checkTruth(t, sql);
  },

  'clients take turns, also when one of them has many small operations': async (t, store) => {
    const { sql } = store;
    const { appId, clientId, makeTags, subscribe, read } = await openBulkScene(store);
    const other = await openBulkScene(store, 'other');
    const [news = 0] = await makeTags(1);
    const [theirs = 0] = await other.makeTags(1);
    const known = names('d', 300);
    const seed = { platformId: 15, tagIds: [], count: 300, deviceIds: known };
    await seedDevices(sql, { ...seed, appId });
    await seedDevices(sql, { ...seed, appId: other.appId });
    const small: number[] = [];
    for (const deviceId of known.slice(0, 6)) small.push(await subscribe([news], [deviceId]));
    const long = await other.subscribe([theirs], known);
    const node = nodeOn(sql);
    const ended = async () => {
      const states = await Promise.all(small.map(async (id) => (await read(id)).state));
      return states.filter((state) => state !== 'QUEUED').length;
    };
    // Whoever is due has rested: only the order counts.
    const turn = async () => {
      await sql`update bulk_operations set due_at = due_at - interval '1 minute'`;
      t.equal(await node.runPiece(), true);
    };
    await turn();
    await turn();
    t.equal(await ended(), 1);
    t.match(await other.read(long), { changed: 100 }, 'the second turn is the other one');
    const [, second = 0, third = 0, fourth = 0] = small;
    const owner = { clientId, userName: null };
    const isOfNow = async () =>
      (
        await sql`select due_at > now() - interval '30 s' as yes from bulk_operations where id = ${fourth}`
      )[0]?.['yes'];
    t.equal(await cancelBulkOperation(sql, owner, third), true, 'one whose turn it is not');
    t.equal(await isOfNow(), false);
    t.equal(await cancelBulkOperation(sql, owner, second), true, 'one whose turn it is');
    t.equal(await isOfNow(), true, 'who cancels has no turn for it');
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

  'an operation rests after each piece, on all nodes': async (t, store) => {
    const { sql } = store;
    const { appId, makeTags, subscribe, read } = await openBulkScene(store);
    const [news = 0] = await makeTags(1);
    const known = names('d', 150);
    const seed = { platformId: 15, tagIds: [], count: 150, deviceIds: known };
    await seedDevices(sql, { ...seed, appId });
    const id = await subscribe([news], known);
    const later = await subscribe([news], known);
    t.equal(await nodeOn(sql).runPiece(), true);
    const first = await sql`
      select due_at >= started_at + interval '50 ms' as rests from bulk_operations where id = ${id}`;
    t.match([...first], [{ rests: true }]);
    await until('it has rested', async () => ((await nodeOn(sql).runPiece()) ? true : null));
    t.match(await read(id), { state: 'FINISHED' });
    const next = await sql`
      select later.due_at >= o.ended_at + interval '50 ms' as rests
      from bulk_operations o, bulk_operations later where o.id = ${id} and later.id = ${later}`;
    t.match([...next], [{ rests: true }], 'the next one rests for it');
  },

  'one that fails waits, and others go on; an app that is deleted has no devices': async (
    t,
    store,
  ) => {
    const { sql } = store;
    const { appId, makeTags, subscribe, read } = await openBulkScene(store);
    const other = await openBulkScene(store, 'other');
    const [news = 0] = await makeTags(1);
    const [theirs = 0] = await other.makeTags(1);
    const seed = { platformId: 15, tagIds: [], count: 1 };
    await seedDevices(sql, { ...seed, appId, deviceIds: ['bad'] });
    await seedDevices(sql, { ...seed, appId: other.appId, deviceIds: ['good'] });
    const failing = await subscribe([news], ['bad']);
    const good = await other.subscribe([theirs], ['good']);
    await sql`alter table devices add constraint refused check (device_id <> 'bad' or tag_ids = '{}')`;
    t.teardown(() => sql`alter table devices drop constraint if exists refused`);
    const node = nodeOn(sql);
    await t.rejects(node.runPiece(), /refused/);
    t.equal(await runAll(sql, node), 1);
    t.match(await other.read(good), { state: 'FINISHED', changed: 1 });
    t.match(await read(failing), { state: 'QUEUED' });
    await sql`alter table devices drop constraint refused`;
    t.equal(await node.runPiece(), false, 'its time has not come yet');
    await sql`update bulk_operations set due_at = now()`;
    await runAll(sql, node);
    t.match(await read(failing), { state: 'FINISHED', changed: 1 });

    const late = await subscribe([news], ['bad']);
    await sql`delete from app_platforms where app_id = ${appId}`;
    await runAll(sql, node);
    t.match(await read(late), { state: 'FINISHED', unknown: 1 });
  },

  'started, it works until all is done, and stops at once': async (t, store) => {
    const { sql } = store;
    const { appId, makeTags, move, read } = await openBulkScene(store);
    const [old = 0, fresh = 0] = await makeTags(2);
    await seedDevices(sql, { appId, platformId: 15, tagIds: [old], count: 450 });
    const id = await move(old, fresh);
    const node = nodeOn(sql);
    node.start();
    await until('some are moved', async () => ((await read(id)).changed > 0 ? true : null));
    await node.stop();
    const { state, changed } = await read(id);
    const next = nodeOn(sql);
    next.start();
    await until('all are moved', async () => ((await read(id)).state === 'FINISHED' ? true : null));
    await next.stop();
    t.ok(state === 'RUNNING' ? changed < 450 : changed === 450);
    t.match(await read(id), { changed: 450 });
  },
});

await withPostgresStore(t, async (t, { sql }) => {
  const { appId, makeTags, move, read } = await openBulkScene({ sql });
  const [old = 0, fresh = 0] = await makeTags(2);
  const deviceIds = ['stays', 'leaves'];
  await seedDevices(sql, { appId, platformId: 15, tagIds: [old], count: 2, deviceIds });
  const id = await move(old, fresh);
  let piece: Promise<boolean> | null = null;
  await sql.begin(async (tx) => {
    await tx`update devices set tag_ids = '{}' where device_id = 'leaves'`;
    piece = nodeOn(sql).runPiece();
    await untilLockWaits('the piece waits for the device', sql);
  });
  t.equal(await piece, true);
  t.match(await read(id), { changed: 1, unchanged: 1 });
  t.same(await tagsOf(sql, 'leaves'), [], 'who leaves before the lock is not brought back');
  t.same(await tagsOf(sql, 'stays'), [fresh]);
});

await withRedis(t, (t) =>
  withPostgresStore(t, async (t, store) => {
    const { sql } = store;
    const redis = await startRedis(t);
    const address = { kind: 'single', url: redis.url } as const;
    const { client, name, feed, repairs, missed } = await openNodeIndex(t, sql, address);
    const { appId, makeTags, move, subscribe } = await openBulkScene(store);
    const [old = 0, fresh = 0, more = 0] = await makeTags(3);
    const known = names('d', 300);
    await seedDevices(sql, { appId, platformId: 15, tagIds: [old], count: 300, deviceIds: known });
    repairs.ask([{ appId, platformId: 15, groupNumber: 0 }]);
    await until('the index is there', async () =>
      (await staleGroups(sql, client, name.current)).length === 0 ? true : null,
    );
    await move(old, fresh);
    await subscribe([more], known);
    await runAll(sql, nodeOn(sql, feed));
    t.equal(missed(), 0, 'the index learns each piece');
    t.same(await staleGroups(sql, client, name.current), []);
    t.same(await indexDifferences(sql, client, name.current), []);
  }),
);
