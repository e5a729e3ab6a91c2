import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Sql, SqlPool } from '../../../../src/database/sql.ts';
import { deleteMovedOrdinals, removeReach } from '../../../../src/push/sql/ledger/remove-reach.ts';
import { deleteOldNotifications } from '../../../../src/push/sql/old-notifications.ts';
import { oldReach } from '../../../../src/push/upkeep.ts';
import { mortal } from '../../../support/mortal.ts';
import { makeTenant } from '../../../support/notifications.ts';
import { onEachStore } from '../../../support/on-each-store.ts';
import { upkeepOf } from '../../../support/upkeep.ts';

const DAY_MS = 86_400_000;
const LIMITS = { jobs: 3, rows: 4 };

/** A job that ended so many days ago, and the groups of its reach; 0: in the row of its scope. */
async function ended(
  sql: SqlPool,
  { clientId, appId }: { readonly clientId: number; readonly appId: number },
  days: number,
  groups: number,
): Promise<string> {
  const id = randomUUID();
  await sql`
    insert into notifications
      (id, client_id, user_name, state, any_tag_ids, all_tag_ids, none_tag_ids, payload, accepted_at, finished_at, is_end_listed)
    select ${id}, ${clientId}, 'user', 'FINISHED', '{}', '{}', '{}', '{}', at, at, true
    from (select now() - ${days}::float8 * interval '1 day' as at) e`;
  await sql`
    insert into notification_scopes
      (notification_id, app_id, platform_id, simulated, delivered, reached, reach_noted, reach_words)
    values (${id}, ${appId}, 3, false, 5, 5, 5, ${groups === 0 ? Buffer.from([0, 0, 0, 0, 0, 1]) : null})`;
  await sql`
    insert into push_reach (notification_id, app_id, platform_id, group_number, words)
    select ${id}, ${appId}, 3, n, ${Buffer.from([0, 1])} from generate_series(1, ${groups}::integer) n`;
  return id;
}

/** Ids of the jobs with a reach; what is half removed counts as one. */
async function withReach(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select notification_id as id from push_reach
    union
    select notification_id from notification_scopes
    where reached is not null or reach_noted is not null or reach_words is not null`;
  return rows.map(({ id }) => id).sort();
}

await onEachStore(t, {
  'it goes days after the end, in pieces, whatever dies': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'acme');
    for (const groups of [0, 9, 0, 3, 1, 0, 0]) await ended(sql, tenant, 7.5, groups);
    const recent = [await ended(sql, tenant, 6.5, 2), await ended(sql, tenant, 6.5, 0)].sort();
    const beforeMs = Date.now() - 7 * DAY_MS;
    let deaths = 0;
    for (let statements = 0; (await withReach(sql)).length > recent.length; statements += 1) {
      await removeReach(mortal(sql, statements), beforeMs, LIMITS).catch((error: unknown) => {
        t.match(error, { message: 'killed' });
        deaths += 1;
      });
    }
    t.ok(deaths >= 4, `${deaths} deaths`);
    while (await removeReach(sql, beforeMs, LIMITS));
    t.same(await withReach(sql), recent);
    while (await removeReach(sql, Date.now(), LIMITS));
    t.same(await withReach(sql), [], 'later the others');
  },

  'a piece is bounded': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'acme');
    const job = await ended(sql, tenant, 8, 6);
    const rows = async () => (await sql`select from push_reach`).length;
    t.equal(await removeReach(sql, Date.now(), LIMITS), true);
    t.equal(await rows(), 2);
    t.same(await withReach(sql), [job]);
    t.equal(await removeReach(sql, Date.now(), LIMITS), false);
    t.same(await withReach(sql), []);
  },

  'many scopes go in pieces; parked parts stay without words': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'acme');
    const job = await ended(sql, tenant, 8, 0);
    await sql`
      insert into notification_scopes (notification_id, app_id, platform_id, simulated, reached)
      select ${job}, ${tenant.appId}, n, false, 1 from generate_series(4, 8) n`;
    await sql`
      insert into chunks (notification_id, app_id, platform_id, group_number, parked_at, reach_words)
      values (${job}, ${tenant.appId}, 3, 0, now(), ${Buffer.from([0, 1])})`;
    t.equal(await removeReach(sql, Date.now(), LIMITS), true);
    const left = await sql`select from notification_scopes where reached is not null`;
    t.equal(left.length, 2, 'four of six');
    t.equal(await removeReach(sql, Date.now(), LIMITS), false);
    t.same(await withReach(sql), []);
    t.match([...(await sql`select reach_words as words from chunks`)], [{ words: null }]);
  },

  'moves stay as long as a retry under way needs them, and no others': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'acme');
    const first = await ended(sql, tenant, 9, 0);
    const retry = await ended(sql, tenant, 0, 0);
    await sql`
      update notifications set state = 'PAUSED', finished_at = null, retries = ${first},
        retries_until = now() + interval '1 hour'
      where id = ${retry}`;
    await sql`
      insert into moved_ordinals (app_id, platform_id, from_ordinal, to_ordinal, moved_at)
      select ${tenant.appId}, 3, n, n + 20, now() - n * interval '1 day' + interval '1 minute' from generate_series(6, 11) n`;
    const left = async (): Promise<number[]> => {
      await deleteMovedOrdinals(sql, Date.now() - 7 * DAY_MS, 100);
      const rows = await sql<{ at: number }[]>`
        select from_ordinal as at from moved_ordinals order by 1`;
      return rows.map(({ at }) => at);
    };
    t.same(await left(), [6, 7, 8, 9], 'those from before its first send are gone');
    await sql`update notifications set retries_until = now() where id = ${retry}`;
    t.same(await left(), [6, 7], 'it cannot send any more');
  },

  'a job stays until its reach is gone, which is not kept longer than the job': async (
    t,
    { sql },
  ) => {
    const tenant = await makeTenant(sql, 'acme');
    await ended(sql, tenant, 3, 2);
    await sql`
      insert into moved_ordinals (app_id, platform_id, from_ordinal, to_ordinal, moved_at)
      select ${tenant.appId}, 3, n, n + 10, now() - n * interval '1 day' from generate_series(6, 8) n`;
    t.equal(await deleteOldNotifications(sql, Date.now(), 10), 0);
    const job = oldReach({ reachRetentionDays: 7, notificationRetentionDays: 2 });
    await upkeepOf(sql, job).run(Date.now());
    t.same(await withReach(sql), []);
    t.equal(await deleteOldNotifications(sql, Date.now(), 10), 1);
    const moved = await sql`select from_ordinal as "from" from moved_ordinals`;
    t.same([...moved], [{ from: 6 }], 'moves are kept as long as any reach');
  },
});
