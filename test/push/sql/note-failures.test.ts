/** Records of single devices, on every store: a bounded number, each once, for a while. */

import t from 'tap';
import type { Sql } from '../../../src/database/sql.ts';
import { countRefusals } from '../../../src/devices/count-refusals.ts';
import type { ErasedDevice } from '../../../src/devices/sql/erase-device.ts';
import { eraseDevice } from '../../../src/devices/sql/erase-device.ts';
import { listDeviceEvents } from '../../../src/devices/sql/list-events.ts';
import { deviceEvents } from '../../../src/devices/upkeep.ts';
import type { DeviceFailure, RetryProgress } from '../../../src/domain/progress.ts';
import { carryOutDeletions } from '../../../src/push/sql/deletions/carry-out.ts';
import { listExpectedSends } from '../../../src/push/sql/list-expected.ts';
import { failedSendsIn, noteFailures } from '../../../src/push/sql/note-failures.ts';
import { makeNotification, makeRunning, makeTag, makeTenant } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { withPostgresStore } from '../../support/store.ts';

import { untilLockWaits } from '../../support/until-lock-waits.ts';
import { upkeepOf } from '../../support/upkeep.ts';

const DAY_MS = 86_400_000;

const report = (
  notificationId: string,
  appId: number,
  failures: readonly DeviceFailure[],
): RetryProgress => ({
  kind: 'retries',
  notificationId,
  appId,
  platformId: 3,
  settlements: [],
  observations: [],
  failures,
  fault: null,
  sends: 0,
  sentFromMs: null,
  sentToMs: null,
});

const failuresOf = (first: number, count: number): readonly DeviceFailure[] =>
  Array.from({ length: count }, (_, index) => ({
    ordinal: first + index,
    reason: 'BadDeviceToken',
  }));

const countEvents = async (sql: Sql): Promise<number> => {
  const [row] = await sql<{ count: number }[]>`select count(*) as count from device_events`;
  return row?.count ?? 0;
};

const keyOf = async (sql: Sql, appId: number, ordinal: number) => {
  const [row] = await sql<{ deviceKey: string }[]>`
    select device_key as "deviceKey" from devices where app_id = ${appId} and ordinal = ${ordinal}`;
  return { appId, platformId: 3, deviceKey: row?.deviceKey ?? '' };
};

await onEachStore(t, {
  'a million failures do not become a million rows': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'acme');
    const { appId } = tenant;
    const id = await makeRunning(sql, tenant, 1_300);
    const other = await makeNotification(sql, tenant);
    const note = (notificationId: string, first: number, count: number) =>
      noteFailures(sql, failedSendsIn([report(notificationId, appId, failuresOf(first, count))]));
    await note(id, 0, 600);
    await note(id, 0, 600);
    t.equal(await countEvents(sql), 600, 'told again, it changes nothing');
    await note(id, 600, 600);
    await note(id, 1_200, 100);
    await note(other, 0, 10);
    await note(id, 9_999, 1);
    const noted = await sql`
      select noted_failures as noted from notification_scopes order by notification_id`;
    t.same([...noted], [{ noted: 1_000 }, { noted: 10 }]);
    t.equal(await countEvents(sql), 1_010);
    const events = await listDeviceEvents(sql, await keyOf(sql, appId, 3), 10);
    t.match(events, [
      { kind: 'failed', notificationId: String, reason: 'BadDeviceToken', at: Number },
      { kind: 'failed' },
    ]);
    t.equal((await listDeviceEvents(sql, await keyOf(sql, appId, 3), 1)).length, 1);
  },

  'why a device was removed: dead, or refused again and again': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'acme');
    const { appId } = tenant;
    const id = await makeRunning(sql, tenant, 3);
    await sql`update devices set registered_at = now() - interval '3 days',
      refusals = 2, refused_at = now() - interval '2 days'`;
    const keys = await Promise.all([0, 1, 2].map((ordinal) => keyOf(sql, appId, ordinal)));
    await sql`
      insert into condemned_devices (notification_id, app_id, platform_id, ordinal, registered_before, is_refusal)
      values (${id}, ${appId}, 3, 0, now(), false), (${id}, ${appId}, 3, 1, now(), true)`;
    await carryOutDeletions(sql, { notificationId: id, appId, platformId: 3 }, 10);
    const reasons = await Promise.all(keys.map((key) => listDeviceEvents(sql, key, 10)));
    t.match(reasons, [
      [{ kind: 'removed', reason: 'dead', notificationId: id }],
      [{ kind: 'removed', reason: 'refused', notificationId: id }],
      [],
    ]);
    const left = await sql`select ordinal from devices`;
    t.same([...left], [{ ordinal: 2 }]);
  },

  'old events go, and those that are too many': async (t, { sql }) => {
    const [acme, other] = [await makeTenant(sql, 'acme'), await makeTenant(sql, 'other')];
    const write = (appId: number, days: number, count: number) => sql`
      insert into device_events (device_key, app_id, platform_id, kind, at, reason)
      select gen_random_uuid(), ${appId}, 3, 'failed',
        now() - ${days}::integer * interval '1 day' - n * interval '1 second', 'x'
      from generate_series(1, ${count}::integer) n`;
    await write(acme.appId, 31, 5);
    await write(acme.appId, 29, 5);
    await write(other.appId, 1, 12);
    const upkeep = upkeepOf(sql, deviceEvents(10));
    await upkeep.run(Date.now());
    const left = await sql`
      select app_id as "appId", count(*) as count from device_events group by app_id order by app_id`;
    t.same(
      [...left],
      [
        { appId: acme.appId, count: 5 },
        { appId: other.appId, count: 10 },
      ],
    );
    await upkeep.run(Date.now() + 31 * DAY_MS);
    t.equal(await countEvents(sql), 0);
  },

  'events that one run cannot delete are the first of the next': async (t, { sql }) => {
    const { appId } = await makeTenant(sql, 'acme');
    // More scopes than one run looks at.
    await sql`
      insert into device_events (device_key, app_id, platform_id, kind, at, reason)
      select gen_random_uuid(), ${appId}, platform, 'failed', now() - n * interval '1 second', 'x'
      from generate_series(1, 10) platform, generate_series(1, case platform when 1 then 35 else 10 end) n`;
    const upkeep = upkeepOf(sql, deviceEvents(10, 1));
    const countAfterRun = async () => {
      await upkeep.run(Date.now());
      const [left] = await sql`select count(*) as count from device_events where platform_id = 1`;
      return left?.['count'];
    };
    t.equal(await countAfterRun(), 15, 'too many for one run');
    t.equal(await countAfterRun(), 10);
  },

  'only the newest notifications of a client are looked through': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'acme');
    const { appId, clientId, tagId } = tenant;
    const id = await makeNotification(sql, tenant);
    const page = { sinceMs: Date.now() - DAY_MS, limit: 10, publisher: null };
    const idsOf = async () =>
      (await listExpectedSends(sql, clientId, { appId, platformId: 3 }, [tagId], page)).map(
        ({ notificationId }) => notificationId,
      );
    const addNewer = (first: number, last: number) => sql`
      insert into notifications
      select (jsonb_populate_record(n, jsonb_build_object('id',
        'ffffffff-ffff-7000-8000-' || lpad(to_hex(number), 12, '0')))).*
      from notifications n, generate_series(${first}::integer, ${last}::integer) number
      where n.id = ${id}::uuid`;
    await addNewer(1, 9_999);
    t.same(await idsOf(), [id]);
    await addNewer(10_000, 10_000);
    t.same(await idsOf(), []);
  },

  'sends that a device with these tags is meant for, the newest first': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'acme');
    const { appId, clientId, tagId } = tenant;
    const scope = { appId, platformId: 3 };
    const muted = await makeTag(sql, clientId, {});
    const [first, second] = [
      await makeNotification(sql, tenant),
      await makeNotification(sql, tenant),
    ];
    await makeNotification(sql, tenant, { platformIds: [15] });
    await makeNotification(sql, { ...tenant, tagId: muted });
    const page = { sinceMs: Date.now() - DAY_MS, limit: 10, publisher: null };
    const idsOf = async (tagIds: readonly number[], limit = 10) =>
      (await listExpectedSends(sql, clientId, scope, tagIds, { ...page, limit })).map(
        ({ notificationId }) => notificationId,
      );
    t.same(await idsOf([tagId]), [second, first]);
    t.same(await idsOf([tagId], 1), [second]);
    t.same(await idsOf([]), []);
    await sql`update notifications set none_tag_ids = array[${muted}::integer] where id = ${second}::uuid`;
    t.same(await idsOf([tagId, muted]).then((ids) => ids.includes(second)), false);
    const [send] = await listExpectedSends(sql, clientId, scope, [tagId], page);
    t.match(send, { title: 'goal!', state: 'QUEUED', isWholeKnown: false, lastSendAtMs: null });
    await sql`update notifications set finished_at = now()`;
    t.match((await listExpectedSends(sql, clientId, scope, [tagId], page))[0], {
      isWholeKnown: true,
    });
    await sql`update notification_scopes set failed = 1`;
    t.match((await listExpectedSends(sql, clientId, scope, [tagId], page))[0], {
      isWholeKnown: false,
    });
    const others = { ...page, publisher: 'other' };
    t.same(await listExpectedSends(sql, clientId, scope, [tagId], others), []);
    const late = { ...page, sinceMs: Date.now() + DAY_MS };
    t.same(await listExpectedSends(sql, clientId, scope, [tagId], late), []);
  },
});

await withPostgresStore(t, async (t, { sql }) => {
  const tenant = await makeTenant(sql, 'acme');
  const { appId } = tenant;
  const id = await makeRunning(sql, tenant, 2);
  const failed = failedSendsIn([report(id, appId, failuresOf(0, 2))]);
  const [first, second] = await Promise.all([0, 1].map((ordinal) => keyOf(sql, appId, ordinal)));
  if (first === undefined || second === undefined) throw new Error('no devices');

  await t.test('of a device that is being erased nothing is noted', async (t) => {
    await sql.begin(async (erasing) => {
      await eraseDevice(erasing, first);
      await noteFailures(sql, failed);
    });
    t.same(await listDeviceEvents(sql, first, 10), []);
    t.equal((await listDeviceEvents(sql, second, 10)).length, 1);
  });

  await t.test('a device that is only changed has its failure noted', async (t) => {
    await sql`delete from device_events`;
    await sql.begin(async (counting) => {
      await countRefusals(counting, [
        { appId, platformId: 3, ordinal: 1, registeredBeforeMs: Date.now() + 60_000 },
      ]);
      await noteFailures(sql, failed);
    });
    t.equal((await listDeviceEvents(sql, second, 10)).length, 1);
  });

  await t.test('erasing waits for what is being noted, and erases it', async (t) => {
    await sql`delete from device_events`;
    let erasing: Promise<ErasedDevice> | null = null;
    await sql.begin(async (noting) => {
      await noteFailures(noting, failed);
      erasing = sql.begin((tx) => eraseDevice(tx, second));
      await untilLockWaits('erasing waits', sql);
    });
    t.match(await erasing, { events: 1 });
    t.equal(await countEvents(sql), 0);
  });
});
