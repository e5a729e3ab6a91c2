/**
 * The property of compile-for.test.ts after what becomes of devices: values that change and are set
 * again, tokens that are replaced, changes that the index missed, compaction, values that go.
 */

import t from 'tap';
import { GivenAttributes } from '../../../src/attributes/given-attributes.ts';
import type { Store } from '../../../src/database/store.ts';
import { runUpkeepJob } from '../../../src/database/upkeep-job.ts';
import { Compaction } from '../../../src/devices/compact/compaction.ts';
import { deviceRef } from '../../../src/devices/operation.ts';
import { unusedValues } from '../../../src/devices/unused-values.ts';
import { deviceKeyOf, GROUP_DEVICES } from '../../../src/domain/device.ts';
import { NO_ATTRIBUTES } from '../../../src/domain/device-attributes.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { BEFORE_ALL, listDeviceGroups } from '../../../src/tag-index/groups/list-device-groups.ts';
import { loadGroup } from '../../../src/tag-index/redis/load-group.ts';
import { RedisTagIndex } from '../../../src/tag-index/redis/redis-tag-index.ts';
import { SqlTagIndex } from '../../../src/tag-index/sql/sql-tag-index.ts';
import type { IndexFeed } from '../../../src/tag-index/tag-index.ts';
import { NO_FEED } from '../../../src/tag-index/tag-index.ts';
import { agreesOnTests, databaseForRows } from '../../contract/tested-audiences.ts';
import { makeRegistration, makeReplacements, silent } from '../../support/app-api.ts';
import { makeTenant } from '../../support/notifications.ts';
import { until } from '../../support/poll.ts';
import { openNodeIndex, staleGroups } from '../../support/redis-index.ts';
import { startRedis, withRedis } from '../../support/redis-server.ts';
import { withPostgresStore } from '../../support/store.ts';
import type { TestedDevice } from '../../support/tested-devices.ts';
import { randomDevices, seedTestedDevices, TESTED_NAMES } from '../../support/tested-devices.ts';

const ROUNDS = 12;
const PLATFORM = 3;
/** Compaction moves them: eight sparse groups, before as many as it leaves alone. */
const SPARSE = 8;
const FILLING = 16;
const DEVICES = 400;

/** Devices that are spread over the sparse groups, and those that they may become. */
async function openScene(store: Store) {
  const { sql } = store;
  const tenant = await makeTenant(sql, 'tested');
  const { appId, clientId } = tenant;
  const [all, others] = [DEVICES, 2 * DEVICES].map((count) => randomDevices([count, 0]));
  const spread = (all ?? []).map((device, at) => ({
    ...device,
    ordinal: (at % SPARSE) * GROUP_DEVICES + at,
  }));
  await seedTestedDevices(sql, tenant, spread);
  const groups = SPARSE + FILLING;
  await sql`
    insert into device_groups (app_id, platform_id, group_number, version)
    select ${appId}, ${PLATFORM}, g, 1 from generate_series(0, ${groups - 1}::int) as g
    on conflict do nothing`;
  await sql`
    update app_platforms set next_ordinal = ${groups * GROUP_DEVICES}
    where app_id = ${appId} and platform_id = ${PLATFORM}`;
  const models = new Map<string, TestedDevice>();
  for (const { ordinal, deviceId } of await sql<{ ordinal: number; deviceId: string }[]>`
    select ordinal, device_id as "deviceId" from devices`) {
    await sql`
      update devices set device_key = ${deviceKeyOf(deviceId)}::uuid where device_id = ${deviceId}`;
    const model = spread.find((device) => device.ordinal === ordinal);
    if (model !== undefined) models.set(deviceId, model);
  }
  const future = (others ?? []).slice(DEVICES);
  return { tenant, clientId, appId, models, future };
}

/** The models at the places where the devices are now, last seen when they were. */
async function placed(
  { sql }: Store,
  models: ReadonlyMap<string, TestedDevice>,
): Promise<readonly TestedDevice[]> {
  const rows = await sql<{ ordinal: number; deviceId: string; seenMs: number }[]>`
    select ordinal, device_id as "deviceId", extract(epoch from registered_at)::float8 * 1000 as "seenMs"
    from devices order by ordinal`;
  return rows.flatMap(({ ordinal, deviceId, seenMs }) => {
    const model = models.get(deviceId);
    if (model === undefined) throw new Error(`${deviceId} is nobody's`);
    return [{ ...model, ordinal, lastSeen: new Date(seenMs).toISOString() }];
  });
}

const numbersOf = ({ numbers }: TestedDevice): Pick<TestedDevice, 'numbers'> =>
  numbers === undefined ? {} : { numbers };

/** The device that stays has what both had; of what both had, its own. */
function both(stays: TestedDevice, gone: TestedDevice): TestedDevice {
  const { registered: _own, ...device } = stays;
  const days = [stays.registered, gone.registered];
  const [earlier] = days.filter((day) => day !== undefined).sort();
  return {
    ...device,
    tags: new Set([...stays.tags, ...gone.tags]),
    values: new Map([...gone.values, ...stays.values]),
    numbers: new Map([...(gone.numbers ?? []), ...(stays.numbers ?? [])]),
    ...(days.includes(undefined) || earlier === undefined ? {} : { registered: earlier }),
  };
}

const withoutRetired = (device: TestedDevice): TestedDevice => ({
  ...device,
  values: new Map(
    [...device.values].filter(
      ([name, value]) => name !== 'country' && value !== 'free' && value !== '5.2',
    ),
  ),
});

await withRedis(t, (t) =>
  withPostgresStore(t, async (t, store) => {
    const { sql } = store;
    const scene = await openScene(store);
    const { appId, clientId, models, future } = scene;
    const { url } = await startRedis(t);
    const node = await openNodeIndex(t, sql, { kind: 'single', url });
    const { client, name, breaker, feed, repairs } = node;
    for (const group of await listDeviceGroups(sql, BEFORE_ALL, 100)) {
      await loadGroup(sql, client, name.current, group, { isForced: true });
    }
    const database = databaseForRows(sql);
    const index = new RedisTagIndex({ client, name, breaker, sql, database, clock: systemClock });
    const agree = async (what: string) => {
      const devices = await placed(store, models);
      const indexes = { Redis: index, database: new SqlTagIndex(sql) };
      await t.resolves(agreesOnTests({ sql, clientId, appId, devices }, indexes, ROUNDS), what);
    };

    const attributes = new GivenAttributes({ sql });
    const setter = { clientId, appId, by: 'app' } as const;
    /** Registers each device with the values of another one, and then once more. */
    const register = async (deviceIds: readonly string[], by: IndexFeed, times: number) => {
      const registration = makeRegistration(store, {}, by);
      for (const deviceId of deviceIds) {
        const next = future.pop();
        const before = models.get(deviceId);
        if (next === undefined || before === undefined) continue;
        const known = new Map<string, unknown>([...next.values, ...(next.numbers ?? [])]);
        const given = TESTED_NAMES.map((each) => ({ name: each, value: known.get(each) ?? null }));
        const { facets, numbers, ignored } = await attributes.resolve(setter, given);
        if (ignored.length > 0) throw new Error(JSON.stringify(ignored));
        const device = deviceRef(appId, PLATFORM, deviceId);
        const operation = { kind: 'reg', device, tagIds: [], attributes: NO_ATTRIBUTES } as const;
        const all = Array.from({ length: times }, () =>
          registration.submit({ ...operation, facets, numbers }),
        );
        if ((await Promise.all(all)).some((result) => result !== 'committed')) {
          throw new Error(`${deviceId} was not registered`);
        }
        models.set(deviceId, { ...before, values: next.values, ...numbersOf(next) });
      }
      await registration.drain();
    };
    const deviceIds = [...models.keys()];

    await register(deviceIds.slice(0, 120), feed, 2);
    await agree('after changes of values, and registrations that repeat them');

    const replacements = makeReplacements(store, {}, feed);
    for (const [at, deviceId] of deviceIds.slice(0, 20).entries()) {
      const to = at % 2 === 0 ? `new-${at}` : (deviceIds[at + 100] ?? '');
      const [old, other] = [models.get(deviceId), models.get(to)];
      const device = deviceRef(appId, PLATFORM, deviceId);
      const by = deviceRef(appId, PLATFORM, to);
      await replacements.submit({ device, by, attributes: NO_ATTRIBUTES });
      models.delete(deviceId);
      if (old !== undefined) models.set(to, other === undefined ? old : both(other, old));
    }
    await agree('after replaced tokens');

    await register(deviceIds.slice(150, 200), NO_FEED, 1);
    repairs.ask(await staleGroups(sql, client, name.current));
    await until('the groups are repaired', async () =>
      (await staleGroups(sql, client, name.current)).length === 0 ? true : null,
    );
    await agree('after changes that the index missed');

    const compaction = new Compaction({ sql, feed, log: silent });
    const [before] = await sql`select max(ordinal) as last from devices`;
    for (let run = 1; run < 8; run += 1) {
      await runUpkeepJob(compaction, { sql, nowMs: Date.now() + run * 120_000 });
    }
    const [after] = await sql`select min(ordinal) as first from devices`;
    t.ok(after?.['first'] > before?.['last'], 'each device has moved');
    await agree('after compaction');

    // No device has these any more: they are retired, and then gone.
    await sql`
      update devices set facet_ids = nullif(array(
        select unnest(facet_ids) except
        select id from attribute_values where attribute_id = -3 or value in ('free', '5.2') order by 1
      ), '{}')`;
    for (const [deviceId, model] of models) models.set(deviceId, withoutRetired(model));
    await sql`update device_groups set version = version + 1`;
    for (const group of await listDeviceGroups(sql, BEFORE_ALL, 100)) {
      await loadGroup(sql, client, name.current, group, { isForced: true });
    }
    await sql`update attribute_values set last_set_at = now() - interval '40 days'`;
    const retire = async () => {
      const job = unusedValues(feed);
      for (let runs = 0; runs < 6; runs += 1) await runUpkeepJob(job, { sql, nowMs: Date.now() });
    };
    await retire();
    await agree('after values were retired');
    await sql`update attribute_values set retired_at = retired_at - interval '2 hours'`;
    await retire();
    const gone = await sql`select from attribute_values where attribute_id = -3 or value = 'free'`;
    t.equal(gone.length, 0);
    await agree('after they were gone');
  }),
);
