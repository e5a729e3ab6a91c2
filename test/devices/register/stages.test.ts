/** The two stages of a registration, while something that is written waits for a lock. */

import t from 'tap';
import { transact } from '../../../src/database/transact.ts';
import { deviceRef } from '../../../src/devices/operation.ts';
import type { Registration } from '../../../src/devices/register/registration.ts';
import {
  openRegistrationScene,
  PLATFORM,
  submitterOf,
  whileAWriteWaits,
} from '../../support/registration-scene.ts';
import { withPostgresStore } from '../../support/store.ts';
import { tagsOf } from '../../support/subscriptions.ts';
import { untilLockWaits } from '../../support/until-lock-waits.ts';

/** It changes nothing, and is answered after the look at those before it. */
const clearUnknown = (registration: Registration, appId: number) =>
  registration.submit({
    kind: 'ureg',
    device: deviceRef(appId, PLATFORM, 'unknown'),
    tagIds: 'all',
  });

await t.test('operations of a device that is being written come after it, and others before', (t) =>
  withPostgresStore(t, async (t, store) => {
    const { sql, tagIds, registration, submit } = await openRegistrationScene(store, 3);
    const [a = 0, b = 0, c = 0] = tagIds;
    for (const deviceId of ['held', 'free']) await submit('reg', deviceId, [a]);
    const order: string[] = [];
    const noting = (name: string, result: Promise<string>) => result.then(() => order.push(name));
    const first = () => noting('set', submit('set', 'held', [b]));
    const all = await whileAWriteWaits(sql, first, async () => {
      // On the row of now this changes nothing. After the `set` it does.
      const second = noting('reg', submit('reg', 'held', [a]));
      await noting('free', submit('reg', 'free', [a]));
      const third = noting('second reg', submit('reg', 'held', [a, c]));
      t.equal(registration.depth, 3, 'nobody waits but those of the held device');
      return [second, third];
    });
    await Promise.all(all);
    t.same(order, ['free', 'set', 'reg', 'second reg']);
    t.same(await tagsOf(sql, 'held'), [a, b, c]);
    t.same(await tagsOf(sql, 'free'), [a]);
    t.equal(registration.depth, 0);
    await registration.drain();
  }),
);

await t.test('the operations of many devices in several batches keep their order', (t) =>
  withPostgresStore(t, async (t, store) => {
    const { sql, tagIds: tags, registration, submit } = await openRegistrationScene(store, 4);
    const submitted: Promise<string>[] = [];
    for (let round = 0; round < 40; round += 1) {
      for (let number = 0; number < 25; number += 1) {
        // The last one of each is [tags[3], tags[number % 4]].
        const again = tags[number % 4] ?? 0;
        submitted.push(submit('set', `d${number}`, [tags[round % 4] ?? 0, again]));
        submitted.push(submit('reg', `d${number}`, [again]));
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    t.same(new Set(await Promise.all(submitted)), new Set(['committed']));
    for (let number = 0; number < 25; number += 1) {
      const expected = new Set([tags[3], tags[number % 4]]);
      t.same(
        await tagsOf(sql, `d${number}`),
        [...expected].sort((one, other) => (one ?? 0) - (other ?? 0)),
        `d${number}`,
      );
    }
    await registration.drain();
  }),
);

await t.test('what a write has held back comes before what came later', (t) =>
  withPostgresStore(t, async (t, store) => {
    const { sql, tagIds, registration, submit } = await openRegistrationScene(store, 3);
    const [a = 0, b = 0, c = 0] = tagIds;
    for (const deviceId of ['held', 'free']) await submit('reg', deviceId, [a]);
    const results = await transact(sql, async (tx) => {
      const earlier = await whileAWriteWaits(
        sql,
        () => submit('set', 'held', [b]),
        async () => {
          const heldBack = submit('set', 'held', [c]);
          await submit('reg', 'free', [a]);
          // A look reads tags, and a write does not.
          await tx`lock table tags in access exclusive mode`;
          const looked = submit('set', 'free', [b]);
          await untilLockWaits('the look waits, too', sql, 2);
          return [heldBack, looked, submit('set', 'held', [a])];
        },
      );
      t.equal(await earlier[0], 'committed', 'while the look still waits');
      return earlier;
    });
    t.same(new Set(await Promise.all(results)), new Set(['committed']));
    t.same(await tagsOf(sql, 'held'), [a]);
    await registration.drain();
  }),
);

await t.test('devices with very many tags are written one by one', (t) =>
  withPostgresStore(t, async (t, store) => {
    const { sql, tagIds, registration, submit } = await openRegistrationScene(store, 2, {
      tagsPerDeviceMax: 200_000,
    });
    const [a = 0, b = 0] = tagIds;
    const names = ['held', 'many 1', 'many 2', 'many 3'];
    for (const name of names) await submit('reg', name, [a]);
    await sql`
      update devices set tag_ids = array (select generate_series(${b + 1}::int, ${b + 100_000}::int))
      where device_id <> 'held'`;
    const alone = () => registration.stages.written.operations.reading.counts[0] ?? 0;
    const before = alone();
    const [first = '', ...others] = names;
    const results = await whileAWriteWaits(
      sql,
      () => submit('reg', first, [b]),
      async () => others.map((name) => submit('reg', name, [b])),
    );
    t.same(new Set(await Promise.all(results)), new Set(['committed']));
    t.equal(alone() - before, names.length);
    for (const name of others) {
      const tags = (await tagsOf(sql, name)) as readonly number[];
      t.equal(tags.length, 100_001);
      t.same(tags.slice(0, 2), [b, b + 1]);
    }
    await registration.drain();
  }),
);

await t.test('a token of two apps, written in two batches, is held back until both are done', (t) =>
  withPostgresStore(t, async (t, store) => {
    const limits = { tagsPerDeviceMax: 200_000 };
    const { sql, tenant, tagIds, registration } = await openRegistrationScene(store, 2, limits);
    const apps = [tenant.appId, await tenant.makeApp()] as const;
    const [a = 0, b = 0] = tagIds;
    const submitFor = (appId: number) => submitterOf(registration, appId);
    for (const appId of apps) await submitFor(appId)('reg', 'twin', [a]);
    // So many that a transaction has room for one of them.
    await sql`
      update devices set tag_ids = ${a}::int || array (select generate_series(${b + 1}::int, ${b + 100_000}::int))`;
    const [one, other] = apps;
    const results = await transact(sql, async (tx) => {
      await tx`select from devices where app_id = ${other} for update`;
      const first = submitFor(one)('set', 'twin', [b]);
      const second = submitFor(other)('set', 'twin', [b]);
      t.equal(await first, 'committed');
      await untilLockWaits('the second one waits', sql);
      // On the row of now this changes nothing.
      const third = submitFor(other)('reg', 'twin', [a]);
      await clearUnknown(registration, one);
      return [second, third];
    });
    t.same(await Promise.all(results), ['committed', 'committed']);
    const rows = await sql`
      select app_id as "appId", tag_ids as tags from devices where device_id = 'twin' order by app_id`;
    t.same(
      [...rows],
      [
        { appId: one, tags: [b] },
        { appId: other, tags: [a, b] },
      ],
    );
    await registration.drain();
  }),
);

await t.test('draining waits for what a write holds back', (t) =>
  withPostgresStore(t, async (t, store) => {
    const { sql, tagIds, registration, submit } = await openRegistrationScene(store, 3);
    const [a = 0, b = 0, c = 0] = tagIds;
    await submit('reg', 'held', [a]);
    let drained = Promise.resolve();
    const results = await whileAWriteWaits(
      sql,
      () => submit('reg', 'held', [b]),
      () => {
        const later = submit('reg', 'held', [c]);
        drained = registration.drain();
        return Promise.resolve([later]);
      },
    );
    await drained;
    t.equal(registration.depth, 0);
    t.same(await tagsOf(sql, 'held'), [a, b, c]);
    t.same(await Promise.all(results), ['committed', 'committed']);
  }),
);

await t.test('a new device that registers twice at once', (t) =>
  withPostgresStore(t, async (t, store) => {
    const { sql, tenant, tagIds, registration, submit } = await openRegistrationScene(store, 2);
    const [a = 0, b = 0] = tagIds;
    await submit('reg', 'held', [a]);
    const held = () => submit('set', 'held', [b]);
    const results = await whileAWriteWaits(sql, held, async () => {
      const first = submit('reg', 'new', [a]);
      await clearUnknown(registration, tenant.appId);
      return [first, submit('set', 'new', [b])];
    });
    t.same(new Set(await Promise.all(results)), new Set(['committed']));
    t.same(await tagsOf(sql, 'new'), [b]);
    await registration.drain();
  }),
);
