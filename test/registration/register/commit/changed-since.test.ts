/** Devices that another transaction changes between the look at them and their write. */

import t from 'tap';
import { DeviceLimit } from '../../../../src/registration/device-limit.ts';
import { deviceRef } from '../../../../src/registration/operation.ts';
import { Ordinals } from '../../../../src/registration/ordinals.ts';
import { commitDevices } from '../../../../src/registration/register/commit.ts';
import { KnownDeviceGroupTags } from '../../../../src/registration/register/known-device-group-tags.ts';
import { lookAtAll } from '../../../../src/registration/register/look.ts';
import { RecentChanges } from '../../../../src/registration/register/recent-changes.ts';
import type { Registration } from '../../../../src/registration/register/registration.ts';
import { PLANS_ARE_KEPT } from '../../../../src/store/dedicated-connection.ts';
import { eraseDevice } from '../../../../src/store/devices/erase-device.ts';
import type { Sql, SqlPool } from '../../../../src/store/sql.ts';
import type { Store } from '../../../../src/store/store.ts';
import { transact } from '../../../../src/store/transact.ts';
import { NO_FEED } from '../../../../src/tag-index/tag-index.ts';
import { makeRegistration } from '../../../support/app-api.ts';
import { until } from '../../../support/poll.ts';
import { withPostgresStore } from '../../../support/store.ts';
import { missingGroupTags, wrongCounts } from '../../../support/subscriber-counts.ts';
import { makeTenant } from '../../../support/tenant.ts';
import { untilLockWaits } from '../../../support/until-lock-waits.ts';

const PLATFORM = 3;

const submitterOf =
  (registration: Registration, appId: number) =>
  (kind: 'reg' | 'set', deviceId: string, tagIds: readonly number[]) =>
    registration.submit({
      kind,
      device: deviceRef(appId, PLATFORM, deviceId),
      tagIds,
      appVersion: null,
    });

const tagsOf = async (sql: SqlPool, deviceId: string): Promise<unknown> =>
  (await sql`select tag_ids as tags from devices where device_id = ${deviceId}`)[0]?.['tags'];

interface Scene {
  readonly store: Store;
  /** In a transaction of its own, which holds the row of 'held'. */
  readonly tx: Sql;
  readonly elsewhere: ReturnType<typeof submitterOf>;
  readonly appId: number;
  readonly tagIds: readonly [number, number, number];
}

interface Change {
  /** The device, and the places of the tags that it has in the end. */
  readonly name: string;
  readonly tags: readonly number[];
  make(scene: Scene): Promise<unknown>;
}

/** 'held' and 'known' have the first tag; each of the others is to get the second one. */
const CHANGES: Readonly<Record<string, Change>> = {
  'another node changes its tags': {
    name: 'known',
    tags: [1, 2],
    make: ({ elsewhere, tagIds }) => elsewhere('set', 'known', [tagIds[2]]),
  },
  'another node makes it': {
    name: 'new',
    tags: [1, 2],
    make: ({ elsewhere, tagIds }) => elsewhere('set', 'new', [tagIds[2]]),
  },
  'somebody erases it': {
    name: 'known',
    tags: [1],
    make: ({ store: { sql }, appId }) =>
      transact(sql, (other) => eraseDevice(other, deviceRef(appId, PLATFORM, 'known'))),
  },
  'compaction moves it': {
    name: 'known',
    tags: [0, 1],
    make: ({ store: { sql } }) =>
      sql`update devices set ordinal = ordinal + 1000 where device_id = 'known'`,
  },
  'the transaction that it waits for changes it': {
    name: 'held',
    tags: [0, 1],
    make: ({ tx }) => tx`update devices set app_version = '2' where device_id = 'held'`,
  },
};

for (const [change, { name, tags: expected, make }] of Object.entries(CHANGES)) {
  await t.test(change, (t) =>
    withPostgresStore(t, async (t, store) => {
      const { sql } = store;
      const tenant = await makeTenant(sql, 'acme');
      const { appId } = tenant;
      const [a = 0, b = 0, c = 0] = await tenant.makeTags(3);
      const tagIds = [a, b, c] as const;
      const [here, another] = [makeRegistration(store), makeRegistration(store)];
      const submit = submitterOf(here, appId);
      const elsewhere = submitterOf(another, appId);
      for (const known of ['held', 'known', 'neighbour']) await submit('reg', known, [a]);
      const looked = () => here.stages.looked.operations.reading.sum;
      const before = looked();
      const results = await transact(sql, async (tx) => {
        await tx`select from devices where device_id = 'held' for update`;
        const held = submit('reg', 'held', [b]);
        await untilLockWaits('the write stage waits', sql);
        const names = ['known', 'new', 'neighbour'];
        const others = names.map((each) => submit('reg', each, [b]));
        await until('they are looked at', () => (looked() === before + 4 ? true : null));
        await make({ store, tx, elsewhere, appId, tagIds });
        return [held, ...others];
      });
      t.same(new Set(await Promise.all(results)), new Set(['committed']));
      const tags = { held: [0, 1], known: [0, 1], neighbour: [0, 1], new: [1], [name]: expected };
      for (const [each, places] of Object.entries(tags)) {
        t.same(
          await tagsOf(sql, each),
          places.map((place) => tagIds[place]),
          each,
        );
      }
      t.equal((await sql`select from devices`).length, 4, 'each once');
      t.same([...(await wrongCounts(sql))], []);
      t.same([...(await missingGroupTags(sql))], []);
      await Promise.all([here.drain(), another.drain()]);
    }),
  );
}

await t.test('an app at its limit of devices: known ones are written, new ones are refused', (t) =>
  withPostgresStore(t, async (t, store) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    const [a = 0, b = 0, c = 0] = await tenant.makeTags(3);
    const limits = { devicesPerAppMax: 2 };
    const [here, elsewhere] = [makeRegistration(store, limits), makeRegistration(store, limits)];
    const submit = submitterOf(here, tenant.appId);
    for (const known of ['held', 'known']) await submit('reg', known, [a]);
    const looked = () => here.stages.looked.operations.reading.sum;
    const before = looked();
    const results = await transact(sql, async (tx) => {
      await tx`select from devices where device_id = 'held' for update`;
      const held = submit('reg', 'held', [b]);
      await untilLockWaits('the write stage waits', sql);
      const others = ['known', 'new'].map((each) => submit('reg', each, [b]));
      await until('they are looked at', () => (looked() === before + 3 ? true : null));
      await submitterOf(elsewhere, tenant.appId)('set', 'known', [c]);
      return [held, ...others];
    });
    t.same(await Promise.all(results), ['committed', 'committed', 'limit']);
    t.same(await tagsOf(sql, 'known'), [b, c]);
    await Promise.all([here.drain(), elsewhere.drain()]);
  }),
);

await t.test('what was read long ago is read again', (t) =>
  withPostgresStore(t, async (t, store) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    const [a = 0, b = 0, c = 0] = await tenant.makeTags(3);
    const registration = makeRegistration(store);
    const submit = submitterOf(registration, tenant.appId);
    await submit('reg', 'known', [a]);
    const limits = { tagsPerDeviceMax: 10, freshMs: 86_400_000 };
    const connection = store.openDedicatedConnection(PLANS_ARE_KEPT);
    const commit = {
      ...limits,
      connection,
      feed: NO_FEED,
      ordinals: new Ordinals(sql, new DeviceLimit(100)),
      knownGroupTags: new KnownDeviceGroupTags(),
      slot: 0,
    };
    for (const { deviceId, ageMs, tagIds } of [
      { deviceId: 'known', ageMs: 61_000, tagIds: [a, c] },
      { deviceId: 'new', ageMs: 61_000, tagIds: [c] },
      { deviceId: 'known', ageMs: 0, tagIds: [a, b, c] },
    ]) {
      const device = deviceRef(tenant.appId, PLATFORM, deviceId);
      const operations = [{ kind: 'reg', device, tagIds: [b, c], appVersion: null } as const];
      const look = { ...limits, connection, recentChanges: new RecentChanges() };
      const seen = await lookAtAll(look, [{ device, operations }]);
      await sql`update tags set deleted_at = now() where id = ${b}`;
      const old = seen.map((each) => ({ ...each, readAtMs: each.readAtMs - ageMs }));
      const { results } = await commitDevices(commit, old);
      t.same(results, ['committed']);
      t.same(await tagsOf(sql, deviceId), tagIds);
      await sql`update tags set deleted_at = null where id = ${b}`;
    }
    await registration.drain();
  }),
);

await t.test('devices are locked in the order of keys, whatever came first', (t) =>
  withPostgresStore(t, async (t, store) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    const [a = 0, b = 0] = await tenant.makeTags(2);
    const registration = makeRegistration(store);
    const submit = submitterOf(registration, tenant.appId);
    // Plans that are made now are kept; as these tables are, a join from their side looks cheapest.
    await sql`vacuum analyze devices`;
    const names = Array.from({ length: 20 }, (_, number) => `device ${number}`);
    for (const name of names) await submit('reg', name, [a]);
    const sorted = (
      await sql<{ id: string }[]>`select device_id as id from devices order by device_key`
    ).map(({ id }) => id);
    const results = await transact(sql, async (tx) => {
      await tx`select from devices where device_id = ${sorted[10] ?? ''} for update`;
      const written = names.map((name) => submit('reg', name, [b]));
      await untilLockWaits('the write waits for the eleventh', sql);
      const free = await sql<{ id: string }[]>`
        select device_id as id from devices order by device_key for update skip locked`;
      t.same(
        free.map(({ id }) => id),
        sorted.slice(11),
      );
      return written;
    });
    t.same(new Set(await Promise.all(results)), new Set(['committed']));
    await registration.drain();
  }),
);
