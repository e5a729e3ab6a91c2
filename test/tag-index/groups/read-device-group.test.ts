/**
 * Facets in the index: all writers of devices hand them to the feed, so that a group to which all
 * changes were applied is the group as it is loaded.
 */

import * as fc from 'fast-check';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { eraseDevices } from '../../../src/devices/erase-devices.ts';
import { deviceRef } from '../../../src/devices/operation.ts';
import { Registration } from '../../../src/devices/register/registration.ts';
import { commitReplacement } from '../../../src/devices/replace/replace-commit.ts';
import { moveDevices } from '../../../src/devices/sql/move-devices.ts';
import { removeFacets } from '../../../src/devices/sql/unused-facets.ts';
import { GROUP_DEVICES } from '../../../src/domain/device.ts';
import { NO_ATTRIBUTES } from '../../../src/domain/device-attributes.ts';
import type { DeviceGroupChange } from '../../../src/domain/device-group-change.ts';
import { deviceGroupKeyOf } from '../../../src/domain/device-group-change.ts';
import { readDeviceGroup } from '../../../src/tag-index/groups/read-device-group.ts';
import { silent } from '../../support/app-api.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { makeTenant } from '../../support/tenant.ts';

const PLATFORM = 3;

/** An index in memory: `id offset` of each tag and facet, by group. */
class MemoryIndex {
  readonly #groups = new Map<string, Set<string>>();

  apply(changes: readonly DeviceGroupChange[]): Promise<void> {
    for (const change of changes) {
      const group = this.#of(deviceGroupKeyOf(change));
      for (const [id, offsets] of change.removed) {
        for (const offset of offsets) group.delete(`${id} ${offset}`);
      }
      for (const [id, offsets] of change.added) {
        for (const offset of offsets) group.add(`${id} ${offset}`);
      }
    }
    return Promise.resolve();
  }

  fieldsOf(key: string): readonly string[] {
    return [...this.#of(key)].sort();
  }

  #of(key: string): Set<string> {
    const group = this.#groups.get(key) ?? new Set();
    this.#groups.set(key, group);
    return group;
  }
}

const offsetsIn = (octets: Buffer): readonly number[] =>
  Array.from({ length: octets.length / 2 }, (_, at) => octets.readUInt16BE(at * 2));

async function openScene(store: Store) {
  const { sql } = store;
  const tenant = await makeTenant(sql, 'acme');
  const { appId, clientId } = tenant;
  const [tagId = 0] = await tenant.makeTags(1);
  // Three attributes with four values each: the value v of the attribute -a has the id at 4a + v.
  const rows = await sql<{ id: number }[]>`
    insert into attribute_values (client_id, attribute_id, value)
    select ${clientId}, -1 - a, v::text from generate_series(0, 2) as a, generate_series(0, 3) as v
    order by a, v returning id`;
  const facets = rows.map(({ id }) => id);
  const index = new MemoryIndex();
  const registration = new Registration({
    store,
    feed: index as never,
    log: silent,
    inFlightMax: 1_000,
    devicesPerAppMax: 1_000,
    tagsPerDeviceMax: 10,
    freshMs: 86_400_000,
  });
  let moved = 0;
  return {
    sql,
    index,
    registration,
    refOf: (device: number) => deviceRef(appId, PLATFORM, `device ${device}`),
    group: (groupNumber: number) => ({ appId, platformId: PLATFORM, groupNumber }),
    tagId,
    facets,
    /** An ordinal of the second group that no device had. */
    freshOrdinal: () => {
      moved += 1;
      return GROUP_DEVICES + moved;
    },
    placeOf: async (device: number) => {
      const [row] = await sql<{ ordinal: number }[]>`
        select ordinal from devices where device_id = ${`device ${device}`}`;
      return row?.ordinal ?? null;
    },
  };
}

type Scene = Awaited<ReturnType<typeof openScene>>;

type Step =
  | { readonly kind: 'reg'; readonly device: number; readonly wanted: readonly (number | null)[] }
  | { readonly kind: 'replace'; readonly device: number; readonly by: number }
  | { readonly kind: 'move' | 'erase'; readonly device: number }
  | { readonly kind: 'strip'; readonly facet: number };

const device = fc.nat(5);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('reg' as const),
      device,
      wanted: fc.array(fc.option(fc.nat(3)), { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('replace' as const), device, by: device }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('move' as const, 'erase' as const), device }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('strip' as const), facet: fc.nat(11) }) },
);

async function take(scene: Scene, done: Step): Promise<void> {
  const { sql, index, registration, facets, refOf, group, placeOf } = scene;
  switch (done.kind) {
    case 'reg': {
      const wanted = done.wanted.map(
        (value, at) => [-1 - at, value === null ? null : (facets[at * 4 + value] ?? 0)] as const,
      );
      await registration.submit({
        kind: 'reg',
        device: refOf(done.device),
        tagIds: [scene.tagId],
        attributes: NO_ATTRIBUTES,
        facets: new Map(wanted),
      });
      return;
    }
    case 'replace': {
      const replacement = {
        device: refOf(done.device),
        by: refOf(done.by),
        attributes: NO_ATTRIBUTES,
      };
      await index.apply((await commitReplacement(sql, replacement, 10)).changes);
      return;
    }
    case 'move': {
      const from = await placeOf(done.device);
      if (from === null || from >= GROUP_DEVICES) return;
      const to = scene.freshOrdinal();
      await index.apply((await moveDevices(sql, group(0), [{ from, to }]))?.changes ?? []);
      return;
    }
    case 'erase': {
      const ordinal = await placeOf(done.device);
      if (ordinal === null) return;
      const { appId, platformId } = group(0);
      const place = { appId, platformId, ordinal, registeredBeforeMs: null };
      await index.apply((await eraseDevices(sql, [place])).changes);
      return;
    }
    case 'strip':
      for (const at of [0, 1]) {
        const { changes } = await removeFacets(sql, group(at), [facets[done.facet] ?? 0], 100);
        await index.apply(changes);
      }
  }
}

await onEachStore(t, {
  'all changes together are the group as it is loaded': async (t, store) => {
    const scene = await openScene(store);
    const { sql, index, group } = scene;
    for (const steps of fc.sample(fc.array(step, { minLength: 20, maxLength: 20 }), 5)) {
      for (const each of steps) await take(scene, each);
      for (const groupNumber of [0, 1]) {
        const { tags } = await readDeviceGroup(sql, group(groupNumber));
        const loaded = tags.flatMap(([id, octets]) =>
          offsetsIn(octets).map((offset) => `${id} ${offset}`),
        );
        const applied = index.fieldsOf(deviceGroupKeyOf(group(groupNumber)));
        t.same(applied, loaded.sort(), JSON.stringify(steps));
      }
      const [twice] = await sql`
        select device_id from devices d
        where (select count(distinct v.attribute_id) <> count(*) from unnest(d.facet_ids) as f (id)
          join attribute_values v on v.id = f.id)`;
      t.equal(twice, undefined, 'no device has two values of an attribute');
    }
    await scene.registration.drain();
  },
});
