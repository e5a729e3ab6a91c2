/** Runs several tests on one store of each kind: opening an embedded one takes seconds. */

import type { Test } from 'tap';
import type { SqlPool } from '../../src/store/sql.ts';
import type { Store } from '../../src/store/store.ts';
import { againAfterDeadlock } from '../../src/store/transact.ts';
import { withStores } from './store.ts';

/** Every test, by its name, finds the store empty. */
export const onEachStore = (
  t: Test,
  tests: Readonly<Record<string, (t: Test, store: Store) => Promise<void>>>,
): Promise<void> =>
  withStores(t, async (t, store) => {
    for (const [name, body] of Object.entries(tests)) {
      await empty(store.sql);
      await t.test(name, (t) => body(t, store));
    }
  });

async function empty(sql: SqlPool): Promise<void> {
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'migrations'`;
  // What the test before has begun in the background may still read.
  await againAfterDeadlock(() => sql`truncate ${sql(tables.map(({ name }) => name))}`);
}
