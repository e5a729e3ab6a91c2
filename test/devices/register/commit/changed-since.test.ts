/** Devices that another transaction changes between the look at them and their write. */

import t from 'tap';
import { PLANS_ARE_KEPT } from '../../../../src/database/dedicated-connection.ts';
import type { Sql } from '../../../../src/database/sql.ts';
import type { Store } from '../../../../src/database/store.ts';
import { transact } from '../../../../src/database/transact.ts';
import { DeviceLimit } from '../../../../src/devices/device-limit.ts';
import { deviceRef } from '../../../../src/devices/operation.ts';
import { Ordinals } from '../../../../src/devices/ordinals.ts';
import { commitDevices } from '../../../../src/devices/register/commit.ts';
import { FacetAttributes } from '../../../../src/devices/register/facet-attributes.ts';
import { KnownDeviceGroupTags } from '../../../../src/devices/register/known-device-group-tags.ts';
import { lookAtAll } from '../../../../src/devices/register/look.ts';
import { RecentChanges } from '../../../../src/devices/register/recent-changes.ts';
import type { Registration } from '../../../../src/devices/register/registration.ts';
import { eraseDevice } from '../../../../src/devices/sql/erase-device.ts';
import { NO_ATTRIBUTES } from '../../../../src/domain/device-attributes.ts';
import { NO_FEED } from '../../../../src/tag-index/tag-index.ts';
import { makeRegistration } from '../../../support/app-api.ts';
import { until } from '../../../support/poll.ts';
import type { Submit } from '../../../support/registration-scene.ts';
import {
  openRegistrationScene,
  PLATFORM,
  submitterOf,
  whileAWriteWaits,
} from '../../../support/registration-scene.ts';
import { withPostgresStore } from '../../../support/store.ts';
import { missingGroupTags, wrongCounts } from '../../../support/subscriber-counts.ts';
import { tagsOf } from '../../../support/subscriptions.ts';
import { untilLockWaits } from '../../../support/until-lock-waits.ts';

/** Registers the devices with the tag, and answers when all were looked at. */
async function lookedAt(
  registration: Registration,
  submit: Submit,
  names: readonly string[],
  tagId: number,
): Promise<readonly Promise<unknown>[]> {
  const looked = () => registration.stages.looked.operations.reading.sum;
  const before = looked();
  const results = names.map((name) => submit('reg', name, [tagId]));
  await until('they are looked at', () => (looked() === before + names.length ? true : null));
  return results;
}

interface Scene {
  readonly store: Store;
  /** In a transaction of its own, which holds the row of 'held'. */
  readonly tx: Sql;
  readonly elsewhere: Submit;
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
      const scene = await openRegistrationScene(store, 3);
      const { sql, registration, submit } = scene;
      const { appId } = scene.tenant;
      const [a = 0, b = 0, c = 0] = scene.tagIds;
      const tagIds = [a, b, c] as const;
      const another = makeRegistration(store);
      const elsewhere = submitterOf(another, appId);
      for (const known of ['held', 'known', 'neighbour']) await submit('reg', known, [a]);
      const results = await whileAWriteWaits(
        sql,
        () => submit('reg', 'held', [b]),
        async (tx) => {
          const others = await lookedAt(registration, submit, ['known', 'new', 'neighbour'], b);
          await make({ store, tx, elsewhere, appId, tagIds });
          return others;
        },
      );
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
      await Promise.all([registration.drain(), another.drain()]);
    }),
  );
}

await t.test('an app at its limit of devices: known ones are written, new ones are refused', (t) =>
  withPostgresStore(t, async (t, store) => {
    const limits = { devicesPerAppMax: 2 };
    const scene = await openRegistrationScene(store, 3, limits);
    const { sql, tenant, registration, submit } = scene;
    const [a = 0, b = 0, c = 0] = scene.tagIds;
    const elsewhere = makeRegistration(store, limits);
    for (const known of ['held', 'known']) await submit('reg', known, [a]);
    const results = await whileAWriteWaits(
      sql,
      () => submit('reg', 'held', [b]),
      async () => {
        const others = await lookedAt(registration, submit, ['known', 'new'], b);
        await submitterOf(elsewhere, tenant.appId)('set', 'known', [c]);
        return others;
      },
    );
    t.same(await Promise.all(results), ['committed', 'committed', 'limit']);
    t.same(await tagsOf(sql, 'known'), [b, c]);
    await Promise.all([registration.drain(), elsewhere.drain()]);
  }),
);

await t.test('what was read long ago is read again', (t) =>
  withPostgresStore(t, async (t, store) => {
    const {
      sql,
      tenant,
      tagIds: made,
      registration,
      submit,
    } = await openRegistrationScene(store, 3);
    const [a = 0, b = 0, c = 0] = made;
    await submit('reg', 'known', [a]);
    const limits = { tagsPerDeviceMax: 10, freshMs: 86_400_000 };
    const connection = store.openDedicatedConnection(PLANS_ARE_KEPT);
    const facetAttributes = new FacetAttributes();
    const commit = {
      ...limits,
      facetAttributes,
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
      const operations = [
        { kind: 'reg', device, tagIds: [b, c], attributes: NO_ATTRIBUTES } as const,
      ];
      const recentChanges = new RecentChanges();
      const look = { ...limits, connection, recentChanges, facetAttributes };
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
    const { sql, tagIds, registration, submit } = await openRegistrationScene(store, 2);
    const [a = 0, b = 0] = tagIds;
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
