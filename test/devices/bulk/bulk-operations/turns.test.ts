/** Whose turn it is: bulk operations of several clients, their rests and their failures. */

import t from 'tap';
import {
  cancelBulkOperation,
  readBulkOperation,
} from '../../../../src/devices/sql/read-operations.ts';
import {
  checkTruth,
  names,
  nodeOn,
  openBulkScene,
  runAll,
} from '../../../support/bulk-operations.ts';
import { onEachStore } from '../../../support/on-each-store.ts';
import { until } from '../../../support/poll.ts';
import { seedDevices } from '../../../support/seed.ts';

await onEachStore(t, {
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
    // All that are due have rested: only the order counts.
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
