/** The two stages of a registration, while something that is written waits for a lock. */

import t from 'tap';
import { deviceRef } from '../../../src/registration/operation.ts';
import type { Registration } from '../../../src/registration/register/registration.ts';
import type { SqlPool } from '../../../src/store/sql.ts';
import { transact } from '../../../src/store/transact.ts';
import { makeRegistration } from '../../support/app-api.ts';
import { until } from '../../support/poll.ts';
import { withPostgresStore } from '../../support/store.ts';
import type { Tenant } from '../../support/tenant.ts';
import { makeTenant } from '../../support/tenant.ts';
import { untilLockWaits } from '../../support/until-lock-waits.ts';

const PLATFORM = 3;

const submitterOf =
  (registration: Registration, { appId }: Tenant) =>
  (kind: 'reg' | 'set', deviceId: string, tagIds: readonly number[]) =>
    registration.submit({
      kind,
      device: deviceRef(appId, PLATFORM, deviceId),
      tagIds,
      appVersion: null,
    });

/**
 * Runs `body` while a write of the device 'held' waits for its row; answers that write and what
 * `body` answers.
 */
const whileAWriteWaits = (
  sql: SqlPool,
  write: () => Promise<unknown>,
  body: () => Promise<readonly Promise<unknown>[]>,
): Promise<readonly Promise<unknown>[]> =>
  transact(sql, async (tx) => {
    await tx`select from devices where device_id = 'held' for update`;
    const written = write();
    await untilLockWaits('it waits', sql);
    return [written, ...(await body())];
  });

const tagsOf = async (sql: SqlPool, deviceId: string): Promise<unknown> =>
  (await sql`select tag_ids as tags from devices where device_id = ${deviceId}`)[0]?.['tags'];

await t.test('operations of a device that is being written come after it, and others before', (t) =>
  withPostgresStore(t, async (t, store) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    const [a = 0, b = 0, c = 0] = await tenant.makeTags(3);
    const registration = makeRegistration(store);
    const submit = submitterOf(registration, tenant);
    for (const deviceId of ['held', 'free']) await submit('reg', deviceId, [a]);
    const order: string[] = [];
    const noting = (name: string, result: Promise<string>) => result.then(() => order.push(name));
    const first = () => noting('set', submit('set', 'held', [b]));
    const all = await whileAWriteWaits(sql, first, async () => {
      // As the row is, this changes nothing. After the `set` it does.
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
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    const tags = await tenant.makeTags(4);
    const registration = makeRegistration(store);
    const submit = submitterOf(registration, tenant);
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

await t.test('operations that were looked at together are written in several batches', (t) =>
  withPostgresStore(t, async (t, store) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    const [a = 0, b = 0, c = 0, d = 0] = await tenant.makeTags(4);
    const registration = makeRegistration(store, { tagsPerDeviceMax: 200_000 });
    const submit = submitterOf(registration, tenant);
    const register = (tagId: number) => submit('reg', 'many', [tagId]);
    await register(a);
    // So many that a transaction has room for one operation of this device.
    await sql`
      update devices set tag_ids = array (select generate_series(${d + 1}::int, ${d + 100_000}::int))`;
    const results = await Promise.all([register(a), register(b), register(c), register(d)]);
    t.same(new Set(results), new Set(['committed']));
    t.equal(registration.stages.written.operations.reading.counts[0], 5, 'one by one');
    const tags = (await tagsOf(sql, 'many')) as readonly number[];
    t.equal(tags.length, 100_004);
    t.same(tags.slice(0, 5), [a, b, c, d, d + 1]);
    await registration.drain();
  }),
);

await t.test('what was set aside counts with the tags that its device will have', (t) =>
  withPostgresStore(t, async (t, store) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    const [a = 0, b = 0] = await tenant.makeTags(2);
    const registration = makeRegistration(store, { tagsPerDeviceMax: 200_000 });
    const submit = submitterOf(registration, tenant);
    await submit('reg', 'held', [a]);
    const { looked, written } = registration.stages;
    const first = () => submit('reg', 'held', [b]);
    const results = await whileAWriteWaits(sql, first, async () => {
      const looks = () => looked.operations.reading.counts[0] ?? 0;
      const before = looks();
      const gone = Array.from({ length: 100_000 }, (_, at) => b + 1 + at);
      const many = submit('reg', 'many', [a, ...gone]);
      await until('it was looked at', () => (looks() > before ? true : null));
      return [many, submit('reg', 'many', [a]), submit('reg', 'many', [b])];
    });
    t.same(new Set(await Promise.all(results)), new Set(['committed']));
    t.equal(written.operations.reading.counts[0], 5, 'one by one');
    t.same(await tagsOf(sql, 'many'), [a, b]);
    await registration.drain();
  }),
);

await t.test('a new device that registers twice at once', (t) =>
  withPostgresStore(t, async (t, store) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    const [a = 0, b = 0] = await tenant.makeTags(2);
    const registration = makeRegistration(store);
    const submit = submitterOf(registration, tenant);
    await submit('reg', 'held', [a]);
    const held = () => submit('set', 'held', [b]);
    const results = await whileAWriteWaits(sql, held, async () => {
      const first = submit('reg', 'new', [a]);
      // It changes nothing, and is answered after the look at those before it.
      await registration.submit({
        kind: 'ureg',
        device: deviceRef(tenant.appId, PLATFORM, 'unknown'),
        tagIds: 'all',
      });
      return [first, submit('set', 'new', [b])];
    });
    t.same(new Set(await Promise.all(results)), new Set(['committed']));
    t.same(await tagsOf(sql, 'new'), [b]);
    await registration.drain();
  }),
);
