/** A clock that was an hour ahead, and is right again: what waited for it goes on. */

import t from 'tap';
import { noteClock } from '../../../src/database/maintenance/set-back-clock.ts';
import type { Store } from '../../../src/database/store.ts';
import { checkSetBack } from '../../../src/doctor/clock.ts';
import { makeRunning, makeTenant } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';

const HOUR_MS = 3_600_000;

/** The clock that has shown this hour is set back now. */
const wasAhead = (store: Store) => store.sql`
  update clock_watch set seen_at = now() + interval '1 hour'`;

/** In seconds from now; null: in the past, or not at all. */
async function waits(store: Store, table: string, column: string): Promise<readonly number[]> {
  const rows = await store.sql<{ seconds: number }[]>`
    select round(extract(epoch from ${store.sql(column)} - now()))::float8 as seconds
    from ${store.sql(table)}`;
  return rows.map(({ seconds }) => seconds);
}

t.test('on each store', (t) =>
  onEachStore(t, {
    'nothing is moved while the clock goes on, nor by a little': async (t, store) => {
      t.equal(await noteClock(store.sql), 0, 'the first look');
      t.equal(await noteClock(store.sql), 0);
      await store.sql`update clock_watch set seen_at = now() + interval '3 seconds'`;
      t.equal(await noteClock(store.sql), 0);
    },

    'waits move back with it, once': async (t, store) => {
      const { sql } = store;
      await noteClock(sql);
      await sql`
        insert into provider_quotas (key, permits, refilled_at, paused_until)
        values ('q', 0, now() + interval '1 hour', now() + interval '61 minutes')`;
      await sql`
        insert into provider_tokens (identity, frozen_until, retry_at)
        values ('t', now() + interval '80 minutes', now() - interval '1 minute')`;
      await sql`
        insert into nodes (host, pid, seen_at, beating_since)
        values ('a', 1, now() + interval '1 hour', now() + interval '50 minutes')`;
      t.match(await checkSetBack(sql), [{ level: 'warning', text: /3600 s ahead of now/ }]);
      await wasAhead(store);
      const byMs = await noteClock(sql);
      t.ok(Math.abs(byMs - HOUR_MS) < 30_000, String(byMs));
      t.equal(await noteClock(sql), 0, 'once');
      const close = async (table: string, column: string, seconds: number) => {
        const [found = Number.NaN] = await waits(store, table, column);
        t.ok(Math.abs(found - seconds) <= 30, `${table}.${column} in ${found} s`);
      };
      await close('provider_quotas', 'refilled_at', 0);
      await close('provider_quotas', 'paused_until', 60);
      await close('provider_tokens', 'frozen_until', 1_200);
      await close('provider_tokens', 'retry_at', -60);
      await close('nodes', 'seen_at', 0);
      await close('nodes', 'beating_since', 0);
      t.strictSame(await checkSetBack(sql), []);
    },

    'a part that waited goes on; what is parked or scheduled stays': async (t, store) => {
      const { sql } = store;
      await noteClock(sql);
      const tenant = await makeTenant(sql, 'clock');
      const [atOnce, parked, scheduled] = [
        await makeRunning(sql, tenant, 1),
        await makeRunning(sql, tenant, 1),
        await makeRunning(sql, tenant, 1),
      ];
      await sql`
        update notifications set accepted_at = now() + interval '1 hour', send_at = now() + interval '1 hour'
        where id = ${atOnce}`;
      await sql`update notifications set send_at = now() + interval '90 minutes' where id = ${scheduled}`;
      await sql`
        update chunks set available_at = case notification_id
          when ${atOnce} then now() + interval '1 hour' when ${parked} then 'infinity' else now() end`;
      await wasAhead(store);
      await noteClock(sql);
      const due = await sql<{ id: string }[]>`
        select id from notifications where send_at > now() + interval '89 minutes'`;
      t.strictSame(
        due.map(({ id }) => id),
        [scheduled],
      );
      const late = await sql<{ id: string }[]>`
        select notification_id as id from chunks where available_at > now() + interval '1 minute'`;
      t.strictSame(
        late.map(({ id }) => id),
        [parked],
      );
    },
  }),
);
