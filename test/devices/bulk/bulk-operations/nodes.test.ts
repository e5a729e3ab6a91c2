/** Bulk operations when nodes die between any two statements, and when several work at once. */

import t from 'tap';
import { makeAppApi } from '../../../support/app-api.ts';
import {
  checkTruth,
  membersOf,
  names,
  nodeOn,
  openBulkScene,
  rested,
  runAll,
} from '../../../support/bulk-operations.ts';
import { mortal } from '../../../support/mortal.ts';
import { onEachStore } from '../../../support/on-each-store.ts';
import { until } from '../../../support/poll.ts';
import { indexDifferences, openNodeIndex, staleGroups } from '../../../support/redis-index.ts';
import { startRedis, withRedis } from '../../../support/redis-server.ts';
import { seedDevices } from '../../../support/seed.ts';
import { withPostgresStore } from '../../../support/store.ts';
import { tagsOf } from '../../../support/subscriptions.ts';
import { untilLockWaits } from '../../../support/until-lock-waits.ts';

await onEachStore(t, {
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
