/** A registration that changes nothing costs a read; what it must not forget all the same. */

import t from 'tap';
import type { SqlPool } from '../../../../src/database/sql.ts';
import { transact } from '../../../../src/database/transact.ts';
import { deviceRef } from '../../../../src/devices/operation.ts';
import { Registration } from '../../../../src/devices/register/registration.ts';
import { NO_ATTRIBUTES } from '../../../../src/domain/device-attributes.ts';
import { carryOutDeletions } from '../../../../src/push/sql/deletions/carry-out.ts';
import { NO_FEED } from '../../../../src/tag-index/tag-index.ts';
import { makeRegistration, silent } from '../../../support/app-api.ts';
import { makeNotification } from '../../../support/notifications.ts';
import { onEachStore } from '../../../support/on-each-store.ts';
import { withPostgresStore } from '../../../support/store.ts';
import type { Tenant } from '../../../support/tenant.ts';
import { makeTenant } from '../../../support/tenant.ts';
import { untilLockWaits } from '../../../support/until-lock-waits.ts';

const PLATFORM = 3;
/** The value in makeRegistration. */
const FRESH_MS = 86_400_000;

/** The row as it was written: any write of it gives it another place or version. */
const writtenRow = async (sql: SqlPool): Promise<Record<string, unknown> | undefined> =>
  (
    await sql`
      select d.ctid::text as place, d.xmin::text as written, d.xmax::text as locked, d.registered_at::text as at,
        d.tag_ids as "tagIds", d.refusals, g.version
      from devices d join device_groups g using (app_id, platform_id)`
  )[0];

const age = (sql: SqlPool, ms: number) =>
  sql`update devices set registered_at = registered_at - ${ms}::float8 * interval '1 millisecond'`;

/**
 * APNs calls the device dead in a send that is accepted now. Returns whether it is there
 * afterwards.
 */
async function condemn(
  sql: SqlPool,
  { clientId, appId, tagId }: { clientId: number; appId: number; tagId: number },
  deadSinceMs: number,
): Promise<boolean> {
  const notificationId = await makeNotification(
    sql,
    { clientId, appId, tagId },
    { platformIds: [PLATFORM] },
  );
  await sql`
    insert into condemned_devices (notification_id, app_id, platform_id, ordinal, registered_before, is_refusal)
    select ${notificationId}, app_id, platform_id, ordinal, to_timestamp(${deadSinceMs}::float8 / 1000), false from devices`;
  await sql`update notification_scopes set deletions = 'released' where notification_id = ${notificationId}`;
  const scope = { notificationId, appId, platformId: PLATFORM };
  await carryOutDeletions(sql, scope, 1_000);
  return (await sql`select from devices`).length > 0;
}

await onEachStore(t, {
  'the same registration again writes nothing, within the bound': async (t, store) => {
    const { sql } = store;
    const { register, tags } = await makeDevice(store);
    const [a = 0, b = 0] = tags;
    await register('reg', [a, b], '1');
    const first = await writtenRow(sql);
    for (const [kind, tagIds, appVersion] of [
      ['reg', [a, b], '1'],
      ['reg', [b], '1'],
      ['reg', [], null],
      ['set', [b, a], null],
    ] as const) {
      t.equal(await register(kind, tagIds, appVersion), 'committed');
      t.same(await writtenRow(sql), first, `${kind} ${tagIds.length}`);
    }
    await register('reg', [a, b], '2');
    const second = await writtenRow(sql);
    t.not(second?.['written'], first?.['written'], 'another version of the app');
    await age(sql, FRESH_MS + 60_000);
    await register('reg', [a, b], '2');
    const third = await writtenRow(sql);
    t.ok(String(third?.['at']) >= String(second?.['at']), 'beyond the bound the time is written');
    await register('set', [a], '2');
    t.same((await writtenRow(sql))?.['tagIds'], [a]);
  },

  'a tag that was deleted since is no repetition of it': async (t, store) => {
    const { sql } = store;
    const { register, tags, tenant } = await makeDevice(store);
    const [a = 0, b = 0] = tags;
    await register('set', [a, b], null);
    await tenant.deleteTag(b);
    await register('set', [a, b], null);
    t.same((await writtenRow(sql))?.['tagIds'], [a]);
  },

  'after many repetitions a tag is added, and one that was deleted is not': async (t, store) => {
    const { sql } = store;
    const { register, tags, tenant } = await makeDevice(store);
    const [a = 0, b = 0] = tags;
    const [deleted = 0] = await tenant.makeTags(1);
    await register('reg', [a], null);
    await tenant.deleteTag(deleted);
    const first = await writtenRow(sql);
    for (let time = 0; time < 10; time += 1) await register('reg', [a], null);
    for (let time = 0; time < 10; time += 1) {
      t.equal(await register('reg', [a, deleted], null), 'committed');
      t.same(await writtenRow(sql), first, 'neither written nor locked');
    }
    t.equal(await register('reg', [b, deleted], null), 'committed');
    t.same((await writtenRow(sql))?.['tagIds'], [a, b]);
  },

  'a device at its limit: a repetition is not written, and is told all the same': async (
    t,
    store,
  ) => {
    const { sql } = store;
    const { tenant, device, tags } = await makeDevice(store);
    const registration = makeRegistration(store, { tagsPerDeviceMax: 2 });
    const [more = 0] = await tenant.makeTags(1);
    const register = (tagIds: readonly number[]) =>
      registration.submit({ kind: 'reg', device, tagIds, attributes: NO_ATTRIBUTES });
    t.equal(await register([...tags, more]), 'tags-limited');
    const first = await writtenRow(sql);
    for (let time = 0; time < 5; time += 1) {
      t.equal(await register([...tags, more]), 'tags-limited');
      t.same(await writtenRow(sql), first, 'neither written nor locked');
    }
    await tenant.deleteTag(tags[0] ?? 0);
    t.equal(await register([more]), 'committed', 'a deleted tag makes room');
    t.same((await writtenRow(sql))?.['tagIds'], [tags[1], more]);
    await registration.drain();
  },

  'opting out in the same batch is written': async (t, store) => {
    const { sql } = store;
    const { registration, device, register, tags } = await makeDevice(store);
    const [a = 0] = tags;
    await register('reg', [a], null);
    const results = await Promise.all([
      registration.submit({ kind: 'ureg', device, tagIds: [a] }),
      register('reg', [a], null),
      registration.submit({ kind: 'ureg', device, tagIds: 'all' }),
    ]);
    t.same(results, ['committed', 'committed', 'committed']);
    t.same((await writtenRow(sql))?.['tagIds'], []);
  },

  'uninstalled within the bound: the first 410 counts, that of the next send erases': async (
    t,
    store,
  ) => {
    const { sql } = store;
    const { register, tags, ids } = await makeDevice(store);
    await register('reg', tags, null);
    await age(sql, 3_600_000);
    // APNs' timestamp never moves.
    const deadSinceMs = Date.now() - 60_000;
    t.ok(await condemn(sql, ids, deadSinceMs), 'its app may have come again, unwritten');
    t.equal((await writtenRow(sql))?.['refusals'], 1);
    t.notOk(await condemn(sql, ids, deadSinceMs), 'it has not');
  },

  'reinstalled within the bound, with a 410 between: it stays': async (t, store) => {
    const { sql } = store;
    const { register, tags, ids } = await makeDevice(store);
    await register('reg', tags, null);
    await age(sql, 3_600_000);
    const deadSinceMs = Date.now() - 60_000;
    const before = await writtenRow(sql);
    await register('reg', tags, null);
    t.same(await writtenRow(sql), before, 'not written');
    t.ok(await condemn(sql, ids, deadSinceMs));
    await register('reg', tags, null);
    t.equal((await writtenRow(sql))?.['refusals'], 0, 'written, for a refusal was noted');
    t.ok(await condemn(sql, ids, deadSinceMs), 'registered after its time of death');
    t.equal((await writtenRow(sql))?.['refusals'], 0);
  },

  'beyond the bound a 410 erases at once': async (t, store) => {
    const { sql } = store;
    const { register, tags, ids } = await makeDevice(store);
    await register('reg', tags, null);
    await age(sql, FRESH_MS + 3_600_000);
    t.notOk(await condemn(sql, ids, Date.now()));
  },
});

async function makeDevice(store: Parameters<typeof makeRegistration>[0]) {
  const tenant: Tenant = await makeTenant(store.sql, 'acme');
  const tags = await tenant.makeTags(2);
  const registration = makeRegistration(store);
  const device = deviceRef(tenant.appId, PLATFORM, 'AB'.repeat(32));
  return {
    tenant,
    tags,
    registration,
    device,
    ids: { clientId: tenant.clientId, appId: tenant.appId, tagId: tags[0] ?? 0 },
    register: (kind: 'reg' | 'set', tagIds: readonly number[], appVersion: string | null) =>
      registration.submit({ kind, device, tagIds, attributes: { ...NO_ATTRIBUTES, appVersion } }),
  };
}

await t.test('a repetition does not wait for what is written with it', (t) =>
  withPostgresStore(t, async (t, store) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    const [a = 0, b = 0, c = 0] = await tenant.makeTags(3);
    const registration = new Registration({
      store,
      feed: NO_FEED,
      log: silent,
      inFlightMax: 100,
      devicesPerAppMax: 100,
      tagsPerDeviceMax: 10,
      freshMs: FRESH_MS,
    });
    const register = (deviceId: string, tagIds: readonly number[]) =>
      registration.submit({
        kind: 'reg',
        device: deviceRef(tenant.appId, PLATFORM, deviceId),
        tagIds,
        attributes: NO_ATTRIBUTES,
      });
    t.same(await Promise.all([register('same', [a]), register('changes', [a])]), [
      'committed',
      'committed',
    ]);
    const changed = await transact(sql, async (tx) => {
      await tx`select from devices where device_id = 'changes' for update`;
      const [change, repetition] = [register('changes', [b]), register('same', [a])];
      t.equal(await repetition, 'committed', 'its neighbour waits for a lock');
      await untilLockWaits('the other one waits', sql);
      t.equal(registration.depth, 1, 'and is the only one that is not answered');
      return { change };
    });
    t.equal(await changed.change, 'committed');
    t.equal(registration.depth, 0);
    const lost = await transact(sql, async (tx) => {
      await tx`select from devices where device_id = 'changes' for update`;
      const [change, repetition] = [register('changes', []), register('same', [a])];
      const another = register('changes', [a, b]);
      const clear = registration.submit({
        kind: 'ureg',
        device: deviceRef(tenant.appId, PLATFORM, 'changes'),
        tagIds: 'all',
      });
      t.equal(await repetition, 'committed');
      await untilLockWaits('the others wait', sql);
      await tx`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      return { others: [change, another, clear] };
    });
    t.same(await Promise.all(lost.others), ['unavailable', 'unavailable', 'unavailable']);
    t.equal(registration.depth, 0, 'each is counted once');
    t.equal(await register('same', [a]), 'committed');

    const elsewhere = makeRegistration(store);
    const later = await transact(sql, async (tx) => {
      await tx`delete from devices where device_id = 'changes'`;
      const device = deviceRef(tenant.appId, PLATFORM, 'later');
      const [change, clear] = [
        register('changes', [c]),
        registration.submit({ kind: 'ureg', device, tagIds: 'all' }),
      ];
      t.equal(await clear, 'committed', 'nobody has this device');
      await untilLockWaits('the other one waits', sql);
      const submitted = elsewhere.submit({
        kind: 'reg',
        device,
        tagIds: [a],
        attributes: NO_ATTRIBUTES,
      });
      t.equal(await submitted, 'committed');
      return { change };
    });
    t.equal(await later.change, 'committed', 'made again, in another try of the batch');
    const [row] = await sql`select tag_ids as "tagIds" from devices where device_id = 'later'`;
    t.same(row, { tagIds: [a] }, 'which does not repeat what was answered before');
    await elsewhere.drain();
    await registration.drain();
  }),
);
