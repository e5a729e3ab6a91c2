/** Devices that were written without counting them: by the version before. */

import t from 'tap';
import type { Sql, SqlPool } from '../../../src/database/sql.ts';
import { ANY_TAG } from '../../../src/statistics/record-changes.ts';
import { recountSubscribers } from '../../../src/statistics/sql/recount-subscribers.ts';
import { makeAppApi } from '../../support/app-api.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { makeTenant } from '../../support/tenant.ts';

const DEVICES = 3_000;

async function counted(sql: Sql, appId: number): Promise<readonly number[]> {
  const rows = await sql<{ count: number }[]>`
    select sum(subscribed - unsubscribed)::int as count from tag_days
    where tag_id = ${ANY_TAG} and app_id = ${appId} group by platform_id order by platform_id`;
  return rows.map(({ count }) => count);
}

/** As a node of the version before does: every tenth has no tag. */
const writeUncounted = (sql: Sql, appId: number, from = 0) => sql`
  insert into devices (app_id, platform_id, ordinal, device_key, device_id, registered_at, tag_ids)
  select ${appId}, 15, 1000000 + n, gen_random_uuid(), 'old ' || n, now(), case when n % 10 = 0 then '{}' else '{7}'::integer[] end
  from generate_series(${from}::integer, ${from + DEVICES - 1}::integer) n`;

async function recountAll(sql: SqlPool): Promise<number> {
  let recounts = 0;
  while (await recountSubscribers(sql)) recounts += 1;
  return recounts;
}

await onEachStore(t, {
  'all are counted at first and a day after the migration, and then no more': async (t, store) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    const { appId } = tenant;
    await writeUncounted(sql, appId);
    await sql`update migrations set applied_at = now() where name = '0016-statistics'`;
    t.equal(await recountAll(sql), 2, 'one for each platform');
    t.same(await counted(sql, appId), [0.9 * DEVICES]);

    await writeUncounted(sql, appId, DEVICES);
    t.equal(await recountAll(sql), 0, 'the day is not over');
    await sql`update migrations set applied_at = now() - interval '25 hours' where name = '0016-statistics'`;
    await sql`update app_platforms set subscribers_counted_at = now() - interval '24.5 hours'`;
    t.equal(await recountAll(sql), 2);
    t.same(await counted(sql, appId), [1.8 * DEVICES]);

    await sql`delete from devices where ordinal >= 1000000 + ${DEVICES}::integer`;
    t.equal(await recountAll(sql), 0, 'what is counted with its devices needs no other count');
    await sql`update app_platforms set subscribers_counted_at = null`;
    t.equal(await recountAll(sql), 2);
    t.same(await counted(sql, appId), [0.9 * DEVICES], 'fewer than it seemed');
  },

  'beside registrations, by nodes that count at once: exact': async (t, store) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    const { appId } = tenant;
    const [tag = 0] = await tenant.makeTags(1);
    const api = makeAppApi(store);
    await writeUncounted(sql, appId);
    const call = (endpoint: string, n: number) =>
      api.call(endpoint, tenant.caller, {
        appId,
        platformId: 15,
        deviceId: `new ${n}`,
        tagId: tag,
      });
    const numbers = Array.from({ length: 300 }, (_, n) => n);
    const half = numbers.filter((n) => n % 2 === 0);
    await Promise.all([
      ...numbers.map((n) => call('reg', n)),
      ...[1, 2, 3].map(async () => {
        for (let round = 0; round < 5; round += 1) {
          await recountSubscribers(sql);
          await sql`update app_platforms set subscribers_counted_at = null`;
        }
      }),
    ]);
    await Promise.all([...half.map((n) => call('ureg', n)), recountAll(sql)]);
    t.same(await counted(sql, appId), [0.9 * DEVICES + numbers.length - half.length]);
    await recountAll(sql);
    t.same(await counted(sql, appId), [0.9 * DEVICES + numbers.length - half.length]);
  },
});
