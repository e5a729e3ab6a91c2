/** Values that may go: on devices they stay, unused ones go in two steps, dead ones at once. */

import t from 'tap';
import type { SqlPool } from '../../src/database/sql.ts';
import { runUpkeepJob } from '../../src/database/upkeep-job.ts';
import { unusedValues } from '../../src/devices/unused-values.ts';
import { NO_FEED } from '../../src/tag-index/tag-index.ts';
import { declareAttribute } from '../support/attributes.ts';
import { mortal } from '../support/mortal.ts';
import { onEachStore } from '../support/on-each-store.ts';
import { seedDevices } from '../support/seed.ts';
import { makeTenant } from '../support/tenant.ts';

const HOUR_MS = 3_600_000;

/** Runs of housekeeping until a walk has ended, on one node. */
async function walk(sql: SqlPool, atMs: number): Promise<void> {
  const job = unusedValues(NO_FEED);
  for (let runs = 0; runs < 6; runs += 1) await runUpkeepJob(job, { sql, nowMs: atMs });
}

async function openScene(sql: SqlPool) {
  const { clientId, appId } = await makeTenant(sql, 'acme');
  const deviceIds = ['a', 'b', 'c'];
  await seedDevices(sql, { appId, platformId: 3, tagIds: [], count: 3, deviceIds });
  const makeValue = async (attributeId: number, value: string, days: number) => {
    const [row] = await sql<{ id: number }[]>`
      insert into attribute_values (client_id, attribute_id, value, last_set_at)
      values (${clientId}, ${attributeId}, ${value}, now() - ${days} * interval '1 day') returning id`;
    return row?.id ?? 0;
  };
  const give = (deviceId: string, ...facetIds: readonly number[]) =>
    sql`update devices set facet_ids = ${[...facetIds].sort((a, b) => a - b)}::int[] where device_id = ${deviceId}`;
  const values = async () =>
    (
      await sql<{ value: string; retired: boolean }[]>`
      select value, retired_at is not null as retired from attribute_values order by value`
    ).map(({ value, retired }) => (retired ? `${value} retired` : value));
  return { clientId, makeValue, give, values };
}

await onEachStore(t, {
  'an unused value goes in two steps; one that a device has stays': async (t, { sql }) => {
    const { makeValue, give, values } = await openScene(sql);
    const held = await makeValue(-1, 'held', 40);
    await makeValue(-1, 'unused', 40);
    await makeValue(-1, 'young', 29);
    await give('b', held);
    await walk(sql, Date.now());
    t.same(await values(), ['held', 'unused retired', 'young']);
    await walk(sql, Date.now());
    t.same(await values(), ['held', 'unused retired', 'young'], 'not within the hour');
    await sql`update attribute_values set retired_at = retired_at - interval '2 hours' where retired_at is not null`;
    await walk(sql, Date.now());
    t.same(await values(), ['held', 'young']);
    const [row] =
      await sql`select last_set_at > now() - interval '1 hour' as "isNew" from attribute_values where value = 'held'`;
    t.same(row, { isNew: true }, 'nobody looks for it again for a month');
  },

  'of an attribute that is full an unused value goes after a day': async (t, { sql }) => {
    const { clientId, makeValue, give } = await openScene(sql);
    const fill = async (attributeId: number, count: number) => {
      await sql`
        insert into attribute_values (client_id, attribute_id, value)
        select ${clientId}, ${attributeId}, 'v' || n from generate_series(1, ${count}::integer) n`;
      await makeValue(attributeId, 'unused', 2);
      await makeValue(attributeId, 'young', 0);
      return await makeValue(attributeId, 'held', 2);
    };
    const retired = async (attributeId: number) =>
      (
        await sql<{ value: string }[]>`
          select value from attribute_values where attribute_id = ${attributeId} and retired_at is not null`
      ).map(({ value }) => value);
    const plan = await declareAttribute(sql, clientId, { name: 'plan', type: 'version' });
    const [osVersion, language, planned] = [
      await fill(-5, 1_997),
      await fill(-1, 1_997),
      await fill(plan, 1_996),
    ];
    await give('a', osVersion, language, planned);
    await walk(sql, Date.now());
    t.same(await retired(-5), ['unused'], '2,000 versions are full');
    t.same(await retired(-1), [], '2,000 languages are not');
    t.same(await retired(plan), [], '1,999 versions are not');
    await makeValue(plan, 'last', 0);
    await walk(sql, Date.now());
    t.same(await retired(plan), ['unused']);
    await sql`update attribute_values set retired_at = retired_at - interval '2 hours'`;
    await walk(sql, Date.now());
    const [left] = await sql`
      select count(*)::int as "unused", (select count(*)::int from attribute_values where value = 'held') as held
      from attribute_values where value = 'unused'`;
    t.same(left, { unused: 1, held: 3 });
  },

  'a value that a device got between the steps stays': async (t, { sql }) => {
    const { makeValue, give, values } = await openScene(sql);
    const unused = await makeValue(-1, 'unused', 40);
    await walk(sql, Date.now());
    await give('a', unused);
    await sql`update attribute_values set retired_at = now() - interval '2 hours'`;
    await walk(sql, Date.now());
    t.same(await values(), ['unused']);
  },

  'values of a deleted attribute leave the devices, whenever a node dies': async (t, { sql }) => {
    const { clientId, makeValue, give, values } = await openScene(sql);
    const plan = await declareAttribute(sql, clientId, { name: 'plan', type: 'text' });
    const [gold, silver, de] = [
      await makeValue(plan, 'gold', 1),
      await makeValue(plan, 'silver', 1),
      await makeValue(-1, 'de', 1),
    ];
    await give('a', gold, de);
    await give('b', silver);
    await give('c', de);
    await sql`delete from attributes`;
    await sql`update attribute_values set retired_at = now() where attribute_id = ${plan}`;
    await walk(sql, Date.now());
    t.same(await values(), ['de', 'gold retired', 'silver retired'], 'too lately');
    for (let statements = 1; statements < 12; statements += 1) {
      await walk(mortal(sql, statements), Date.now() + HOUR_MS).catch(() => undefined);
      const [wrong] = await sql`
        select from devices d, unnest(d.facet_ids) as f (id)
        where not exists (select from attribute_values v where v.id = f.id)`;
      t.equal(wrong, undefined, `after ${statements}: no device has a value that is gone`);
    }
    await walk(sql, Date.now() + HOUR_MS);
    t.same(await values(), ['de']);
    const rows = await sql<{ facetIds: number[] | null }[]>`
      select facet_ids as "facetIds" from devices order by device_id`;
    t.same(
      rows.map(({ facetIds }) => facetIds),
      [[de], null, [de]],
    );
  },

  'a value of a deleted attribute goes, also one that is not marked': async (t, { sql }) => {
    const { clientId, makeValue, give, values } = await openScene(sql);
    const plan = await declareAttribute(sql, clientId, { name: 'plan', type: 'text' });
    await give('a', await makeValue(plan, 'gold', 31));
    await sql`delete from attributes`;
    await walk(sql, Date.now());
    t.same(await values(), []);
  },
});
