/** Tables get statistics soon after they got rows, on every store. */

import { pino } from 'pino';
import t from 'tap';
import { Maintenance } from '../../../src/database/maintenance/maintenance.ts';
import { staleTables } from '../../../src/database/maintenance/stale-tables.ts';
import type { Sql } from '../../../src/database/sql.ts';
import { until } from '../../support/poll.ts';
import { withStores } from '../../support/store.ts';

const rowsThatThePlannerKnows = async (sql: Sql): Promise<number> => {
  const [row] = await sql<{ rows: number }[]>`
    select reltuples::integer as rows from pg_class where relname = 'tag_days'`;
  return row?.rows ?? -1;
};

t.test('a table that has got its first rows is analyzed, and left alone after that', async (t) => {
  await withStores(t, async (t, { sql, address }) => {
    const maintenance = new Maintenance({ sql, address }, pino({ level: 'silent' }));
    t.same(await maintenance.run(), [], 'nothing to do on an empty store');
    // PostgreSQL's own autovacuum comes every minute, and may be first.
    await sql`alter table tag_days set (autovacuum_enabled = false)`;
    await sql`
      insert into tag_days (tag_id, day, slot)
      select i, current_date, 0 from generate_series(1, 5000) as i`;
    // PostgreSQL shows its statistics of a change within a second or so.
    const names = await until('tag_days is stale', async () => {
      const stale = await maintenance.run();
      return stale.length > 0 ? stale : null;
    });
    t.same(names, ['tag_days']);
    t.equal(await rowsThatThePlannerKnows(sql), 5000);
    t.same(await maintenance.run(), []);
  });
});

t.test('a table that was analyzed while it was empty is analyzed when it has grown', async (t) => {
  await withStores(t, async (t, { sql, address }) => {
    const maintenance = new Maintenance({ sql, address }, pino({ level: 'silent' }));
    await sql`alter table tag_days set (autovacuum_enabled = false)`;
    await sql.unsafe('vacuum analyze tag_days');
    await sql`
      insert into tag_days (tag_id, day, slot)
      select i, current_date, 0 from generate_series(1, 5000) as i`;
    await until('tag_days is stale', async () => {
      const stale = await maintenance.run();
      return stale.length > 0 ? stale : null;
    });
    t.equal(await rowsThatThePlannerKnows(sql), 5000);
    t.same(await maintenance.run(), []);
  });
});

t.test('a table that somebody has locked keeps no other one waiting', async (t) => {
  await withStores(t, async (t, { sql, address }) => {
    // The embedded database is one session: it cannot meet a lock.
    if (address.kind === 'embedded') return;
    const maintenance = new Maintenance({ sql, address }, pino({ level: 'silent' }));
    await sql`alter table tag_days set (autovacuum_enabled = false)`;
    await sql`
      insert into tag_days (tag_id, day, slot)
      select i, current_date, 0 from generate_series(1, 5000) as i`;
    await until('tag_days is stale', async () => {
      const stale = await staleTables(sql, { isNewOnly: true });
      return stale.some(({ name }) => name === 'tag_days') ? true : null;
    });
    await sql.begin(async (locking) => {
      // A statement that waits for the lock makes this fail.
      await locking`set local idle_in_transaction_session_timeout = '5s'`;
      await locking`lock table tag_days in share update exclusive mode`;
      t.same(await maintenance.run(), ['tag_days']);
      t.not(await rowsThatThePlannerKnows(sql), 5000);
    });
    await maintenance.run();
    t.equal(await rowsThatThePlannerKnows(sql), 5000, 'its turn comes');
  });
});

t.test('the embedded database is vacuumed: it has no autovacuum', async (t) => {
  await withStores(t, async (t, { sql, address }) => {
    if (address.kind !== 'embedded') return;
    const maintenance = new Maintenance({ sql, address }, pino({ level: 'silent' }));
    await sql`
      insert into tag_days (tag_id, day, slot)
      select i, current_date, 0 from generate_series(1, 5000) as i`;
    await sql`update tag_days set subscribed = subscribed + 1`;
    const dead = async (): Promise<number> => {
      const [row] = await sql<{ dead: number }[]>`
        select n_dead_tup as dead from pg_stat_user_tables where relname = 'tag_days'`;
      return row?.dead ?? 0;
    };
    await until('the dead rows are counted', async () => ((await dead()) === 5000 ? true : null));
    t.same(await maintenance.run(), ['tag_days']);
    t.equal(await dead(), 0);
  });
});
