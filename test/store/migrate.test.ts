/** Migrations on every store: once each, also when two nodes start together. */

import t from 'tap';
import { migrate } from '../../src/store/migrate.ts';
import { openPostgres } from '../../src/store/store.ts';
import { until } from '../support/poll.ts';
import { withPostgres, withStores } from '../support/store.ts';

t.test('opening has migrated; migrating again applies nothing', async (t) => {
  await withStores(t, async (t, store) => {
    const [row] = await store.sql`select count(*) as tables from clients`;
    t.same(row, { tables: 0 });
    t.same(await migrate(store.sql), []);
  });
});

t.test('two nodes that start together apply each migration once', async (t) => {
  await withPostgres(t, async (t, url) => {
    const stores = await Promise.all([openPostgres(url), openPostgres(url)]);
    t.teardown(() => Promise.all(stores.map((store) => store.close())));
    const applied = stores.flatMap((store) => store.applied);
    t.same(applied, [...new Set(applied)]);
    t.ok(applied.length > 0, 'one of them applied them');
  });
});

t.test('beside nodes at work: after a deadlock it is tried again', async (t) => {
  await withPostgres(t, async (t, url) => {
    const store = await openPostgres(url);
    t.teardown(() => store.close());
    const { sql } = store;
    let migrated: Promise<readonly string[]> | null = null;
    await sql.begin(async (tx) => {
      await tx`lock table migrations in access exclusive mode`;
      migrated = migrate(sql);
      await until('it waits for the table', async () => {
        const [waiting] = await tx`select from pg_locks where not granted`;
        return waiting === undefined ? null : true;
      });
      // It began to wait first, so it is the one that finds the deadlock and ends.
      await tx`select pg_advisory_xact_lock(7461671)`;
    });
    t.same(await migrated, []);
  });
});
