/**
 * The result of a replacement in the database, alone and beside registrations of the same devices.
 */

import { hash } from 'node:crypto';
import t from 'tap';
import type { SqlPool } from '../../../src/database/sql.ts';
import { deviceRef } from '../../../src/devices/operation.ts';
import type { Replaced } from '../../../src/devices/replace/replace-commit.ts';
import { commitReplacement } from '../../../src/devices/replace/replace-commit.ts';
import type { ReplaceResult } from '../../../src/devices/replace/replacements.ts';
import { groupNumberOf, offsetOf } from '../../../src/domain/device.ts';
import { NO_ATTRIBUTES } from '../../../src/domain/device-attributes.ts';
import { ANY_TAG } from '../../../src/statistics/record-changes.ts';
import { makeRegistration, makeReplacements } from '../../support/app-api.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { subscriptions, writeGroupTags } from '../../support/subscriptions.ts';
import { makeTenant } from '../../support/tenant.ts';

interface Row {
  readonly ordinal: number;
  readonly version: string | null;
  readonly tags: readonly number[];
  readonly registeredToday: boolean;
  readonly refusals: number;
  readonly environment: string | null;
}

async function rowsOf(sql: SqlPool, appId: number): Promise<Readonly<Record<string, Row>>> {
  const rows = await sql<(Row & { readonly deviceId: string })[]>`
    select device_id as "deviceId", ordinal, app_version as version, refusals, apns_environment as environment,
      registered_at > now() - interval '1 hour' as "registeredToday",
      array(select tag_id from ${subscriptions(sql)} where s.app_id = d.app_id and s.platform_id = d.platform_id
        and s.ordinal = d.ordinal order by 1) as tags
    from devices d where app_id = ${appId} order by 1`;
  return Object.fromEntries(rows.map(({ deviceId, ...row }) => [deviceId, row]));
}

const versionsOf = async (sql: SqlPool): Promise<readonly number[]> =>
  (await sql<{ version: number }[]>`select version from device_groups order by group_number`).map(
    ({ version }) => version,
  );

/** The days of all devices. */
const registeredOn = async (sql: SqlPool): Promise<readonly (string | null)[]> =>
  (await sql<{ day: string | null }[]>`select registered_on::text as day from devices`).map(
    ({ day }) => day,
  );

await onEachStore(t, {
  'to a new deviceId: the row stays, its ordinal, subscriptions and retention with it': async (
    t,
    store,
  ) => {
    const { sql } = store;
    const { appId, ...tenant } = await makeTenant(sql, 'acme');
    const [a = 0, b = 0] = await tenant.makeTags(2);
    const registration = makeRegistration(store);
    const old = deviceRef(appId, 3, 'AB'.repeat(32));
    await registration.submit({
      kind: 'reg',
      device: old,
      tagIds: [a, b],
      attributes: { ...NO_ATTRIBUTES, appVersion: '1' },
    });
    await sql`
      update devices set registered_at = '2026-01-01Z', refusals = 2, refused_at = now(), apns_environment = 'sandbox'`;
    const before = (await rowsOf(sql, appId))['ab'.repeat(32)];
    const [version = 0] = await versionsOf(sql);
    const replacements = makeReplacements(store);
    const by = deviceRef(appId, 3, 'CD'.repeat(32));
    const replaced = await replacements.submit({ device: old, by, attributes: NO_ATTRIBUTES });
    const ordinal = before?.ordinal ?? -1;
    t.equal(replaced.outcome, 'moved');
    const history = { refusals: 0, environment: null };
    t.same(changesIn(replaced), [
      {
        groupNumber: groupNumberOf(ordinal),
        version: version + 1,
        tokens: [[offsetOf(ordinal), 'cd'.repeat(32)]],
        added: [],
        removed: [],
        histories: [[offsetOf(ordinal), history]],
      },
    ]);
    t.same(await rowsOf(sql, appId), {
      ['cd'.repeat(32)]: {
        ordinal,
        version: '1',
        tags: [a, b],
        registeredToday: true,
        refusals: 0,
        environment: null,
      },
    });
    t.same(await versionsOf(sql), [version + 1]);
    const [key] = await sql`select replace(device_key::text, '-', '') as key from devices`;
    t.equal(key?.['key'], hash('sha256', 'cd'.repeat(32), 'hex').slice(0, 32), 'is found by it');

    const again = await replacements.submit({
      device: old,
      by,
      attributes: { ...NO_ATTRIBUTES, appVersion: '2' },
    });
    t.match(again, { outcome: 'unchanged', changes: [] }, 'after a crash the caller asks again');
    t.match(await replacements.submit({ device: by, by, attributes: NO_ATTRIBUTES }), {
      outcome: 'unchanged',
    });
    t.same(await versionsOf(sql), [version + 1]);
    const nobody = deviceRef(appId, 3, 'nobody');
    const unknown = { outcome: 'unknown', changes: [] };
    t.match(
      await replacements.submit({ device: old, by: nobody, attributes: NO_ATTRIBUTES }),
      unknown,
    );
    t.match(
      await replacements.submit({ device: nobody, by: nobody, attributes: NO_ATTRIBUTES }),
      unknown,
    );
    await replacements.drain();
    t.same(await replacements.submit({ device: old, by, attributes: NO_ATTRIBUTES }), {
      outcome: 'unavailable',
    });
  },

  'to a device that is there: it has the tags of both, and the old one is gone': async (
    t,
    store,
  ) => {
    const { sql } = store;
    const { appId, ...tenant } = await makeTenant(sql, 'acme');
    const [a = 0, b = 0, c = 0, deleted = 0] = await tenant.makeTags(4);
    const registration = makeRegistration(store);
    const register = (deviceId: string, tagIds: readonly number[], appVersion: string | null) =>
      registration.submit({
        kind: 'reg',
        device: deviceRef(appId, 15, deviceId),
        tagIds,
        attributes: { ...NO_ATTRIBUTES, appVersion },
      });
    await register('old', [a, b, deleted], '1');
    await register('new', [b, c], null);
    await sql`update devices set ordinal = ordinal + 8192 where device_id = 'new'`;
    await sql`update devices set registered_on = '2026-01-02' where device_id = 'old'`;
    await writeGroupTags(sql);
    await sql`insert into device_groups values (${appId}, 15, 1, 5)`;
    await tenant.deleteTag(deleted);
    const { old, new: fresh } = await rowsOf(sql, appId);
    const [version = 0] = await versionsOf(sql);
    const replacement = {
      device: deviceRef(appId, 15, 'old'),
      by: deviceRef(appId, 15, 'new'),
      attributes: NO_ATTRIBUTES,
    };
    const replaced = await makeReplacements(store).submit(replacement);
    const offset = offsetOf(old?.ordinal ?? -1);
    t.match(replaced, { outcome: 'merged', isTagsLimited: false });
    t.same(await registeredOn(sql), ['2026-01-02'], 'it was first registered as the old one was');
    const freshOffset = offsetOf(fresh?.ordinal ?? -1);
    t.same(changesIn(replaced), [
      {
        groupNumber: 0,
        version: version + 1,
        tokens: [[offset, null]],
        added: [],
        removed: [a, b, deleted].map((tagId) => [tagId, [offset]]),
        histories: [],
      },
      {
        groupNumber: 1,
        version: 6,
        tokens: [],
        added: [[a, [freshOffset]]],
        removed: [],
        histories: [[freshOffset, { refusals: 0, environment: null }]],
      },
    ]);
    t.same(await rowsOf(sql, appId), {
      new: {
        ordinal: fresh?.ordinal,
        version: '1',
        tags: [a, b, c],
        registeredToday: true,
        refusals: 0,
        environment: null,
      },
    });
    t.same(await versionsOf(sql), [version + 1, 6]);
    const days = await sql`
      select tag_id, sum(subscribed)::int as gained, sum(unsubscribed)::int as lost from tag_days group by 1 order by 1`;
    t.same(
      [...days].map(({ tag_id, gained, lost }) => [tag_id, gained - lost]),
      [
        [ANY_TAG, 1],
        [a, 1],
        [b, 1],
        [c, 1],
        [deleted, 0],
      ],
      'the statistics know how many are left',
    );
    t.match(await makeReplacements(store).submit(replacement), { outcome: 'unchanged' });
  },

  'the limit of tags holds': async (t, store) => {
    const { appId, ...tenant } = await makeTenant(store.sql, 'acme');
    const [a = 0, b = 0, c = 0] = await tenant.makeTags(3);
    const registration = makeRegistration(store);
    for (const [deviceId, tagIds] of [
      ['old', [a, b]],
      ['new', [c]],
    ] as const) {
      const device = deviceRef(appId, 15, deviceId);
      await registration.submit({
        kind: 'reg',
        device,
        tagIds,
        attributes: NO_ATTRIBUTES,
      });
    }
    const replaced = await makeReplacements(store, { tagsPerDeviceMax: 2 }).submit({
      device: deviceRef(appId, 15, 'old'),
      by: deviceRef(appId, 15, 'new'),
      attributes: NO_ATTRIBUTES,
    });
    t.match(replaced, { outcome: 'merged', isTagsLimited: true });
    t.same((await rowsOf(store.sql, appId))['new']?.tags, [a, c]);
  },

  'beside registrations of both devices nothing is lost, and nothing deadlocks': async (
    t,
    store,
  ) => {
    const { sql } = store;
    const { appId, ...tenant } = await makeTenant(sql, 'acme');
    const [a = 0, b = 0] = await tenant.makeTags(2);
    const [registration, otherNode] = [makeRegistration(store), makeRegistration(store)];
    const reg = (node: typeof registration, deviceId: string, tagId: number) =>
      node.submit({
        kind: 'reg',
        device: deviceRef(appId, 15, deviceId),
        tagIds: [tagId],
        attributes: NO_ATTRIBUTES,
      });
    const count = 60;
    const numbers = Array.from({ length: count }, (_, n) => n);
    await Promise.all(numbers.map((n) => reg(registration, `old-${n}`, a)));
    const replace = (n: number): Promise<Replaced> =>
      commitReplacement(
        sql,
        {
          device: deviceRef(appId, 15, `old-${n}`),
          by: deviceRef(appId, 15, `new-${n}`),
          attributes: NO_ATTRIBUTES,
        },
        5_000,
      );
    const [outcomes] = await Promise.all([
      Promise.all(numbers.map((n) => replace(n))),
      Promise.all(numbers.map((n) => reg(otherNode, `new-${n}`, b))),
      // Two callers at once, as after a time-out.
      Promise.all(numbers.map((n) => replace(n))),
    ]);
    t.ok(outcomes.every(({ outcome }) => outcome !== 'unknown'));
    const rows = await rowsOf(sql, appId);
    t.same(Object.keys(rows).sort(), numbers.map((n) => `new-${n}`).sort());
    for (const { tags } of Object.values(rows)) t.same(tags, [a, b]);
  },

  'more than can wait are told so': async (t, store) => {
    const { appId } = await makeTenant(store.sql, 'acme');
    const replacements = makeReplacements(store);
    const device = deviceRef(appId, 15, 'x');
    const results = await Promise.all(
      Array.from({ length: 1_001 }, () =>
        replacements.submit({ device, by: device, attributes: NO_ATTRIBUTES }),
      ),
    );
    t.equal(results.filter(({ outcome }) => outcome === 'overloaded').length, 1);
  },
});

/** The changes for an index, in lists. */
function changesIn(replaced: ReplaceResult) {
  const changes = 'changes' in replaced ? [...replaced.changes] : [];
  changes.sort((a, b) => a.groupNumber - b.groupNumber);
  return changes.map(({ groupNumber, version, tokens, added, removed, histories }) => ({
    groupNumber,
    version,
    tokens: [...tokens],
    added: [...added],
    removed: [...removed],
    histories: [...histories],
  }));
}
