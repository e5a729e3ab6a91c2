/**
 * Migration 0012 on as many devices as are wanted: what is there afterwards is held against a copy
 * of what was.
 */

import type { Test } from 'tap';
import { MIGRATIONS, migrate } from '../../src/database/migrate.ts';
import { connect } from '../../src/database/sql.ts';
import { withPostgres } from './store.ts';

export async function becomesOneRowEach(t: Test, devices: number): Promise<void> {
  await withPostgres(t, async (t, url) => {
    const sql = connect({ kind: 'postgres', url }, 2);
    t.teardown(() => sql.end());
    const before = MIGRATIONS.filter(({ name }) => name < '0012');
    await migrate(sql, { migrations: before });
    await sql`
    insert into devices (app_id, platform_id, ordinal, device_key, device_id, app_version, registered_at, refusals, apns_environment)
    select 1 + n % 2, 3, n * 10, md5(n::text)::uuid, 'device ' || n, 'v' || n, now() - n * interval '1 hour', n % 3,
      case when n % 5 = 0 then 'sandbox' end
    from generate_series(0, ${devices - 1}::integer) as n`;
    await sql`
    insert into subscriptions (app_id, platform_id, tag_id, ordinal)
    select app_id, platform_id, tag_id, ordinal from devices, generate_series(101, 120) as tag_id
    where (ordinal / 10 + tag_id) % 4 = 0`;
    await sql`insert into device_groups select app_id, platform_id, ordinal / 8192, 7 from devices group by 1, 2, 3`;
    await sql`insert into tag_days (tag_id, day, slot, subscribed, unsubscribed) values (101, '2026-01-02', 0, 500, 20)`;
    await sql`create table devices_before as select * from devices`;
    await sql`create table subscriptions_before as select * from subscriptions`;

    const upTo = MIGRATIONS.filter(({ name }) => name < '0013');
    t.same((await migrate(sql, { migrations: upTo })).applied, ['0012-one-row-per-device']);
    const lost = await sql`
    select app_id, platform_id, ordinal, device_key, device_id, app_version, registered_at, refusals, apns_environment
    from devices_before
    except select app_id, platform_id, ordinal, device_key, device_id, app_version, registered_at, refusals, apns_environment
    from devices`;
    t.equal(lost.length, 0, 'devices');
    const tags = await sql`
    (select app_id, platform_id, ordinal, tag_id from subscriptions_before
     except select app_id, platform_id, ordinal, unnest(tag_ids) from devices)
    union all
    (select app_id, platform_id, ordinal, unnest(tag_ids) from devices
     except select app_id, platform_id, ordinal, tag_id from subscriptions_before)`;
    t.equal(tags.length, 0, 'tags');
    const [sorted] = await sql`
    select bool_and(tag_ids = array(select unnest(tag_ids) order by 1)) as "isSorted", count(*)::int as devices from devices`;
    t.same(sorted, { isSorted: true, devices });
    const groups = await sql`
    (select app_id, platform_id, tag_id, group_number from device_group_tags
     except select app_id, platform_id, tag_id, ordinal / 8192 from subscriptions_before)
    union all
    (select app_id, platform_id, tag_id, ordinal / 8192 from subscriptions_before
     except select app_id, platform_id, tag_id, group_number from device_group_tags)`;
    t.equal(groups.length, 0, 'tags of groups');
    const counts = await sql`
    (select app_id, platform_id, tag_id, count(*) from subscriptions_before group by 1, 2, 3
     except select app_id, platform_id, tag_id, sum(subscribed - unsubscribed)::bigint from tag_days where app_id > 0 group by 1, 2, 3)`;
    t.equal(counts.length, 0, 'subscribers');
    const [day] =
      await sql`select subscribed::int, unsubscribed::int from tag_days where day = '2026-01-02'`;
    t.same(day, { subscribed: 500, unsubscribed: 20 }, 'history');
    const names =
      await sql`select indexname as name from pg_indexes where tablename = 'devices' order by 1`;
    t.same(
      names.map(({ name }) => name),
      ['devices_device_key', 'devices_pkey'],
    );
    t.same(await migrate(sql, { migrations: upTo }), { applied: [], ahead: [] });
  });
}
