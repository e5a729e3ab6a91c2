/** Runs several tests on one store of each kind: opening an embedded one takes seconds. */

import type { Test } from 'tap';
import type { Store } from '../../src/database/store.ts';
import { emptyDatabase } from './empty-database.ts';
import { withStores } from './store.ts';

/** Every test, by its name, finds the store empty. */
export const onEachStore = (
  t: Test,
  tests: Readonly<Record<string, (t: Test, store: Store) => Promise<void>>>,
): Promise<void> =>
  withStores(t, async (t, store) => {
    for (const [name, body] of Object.entries(tests)) {
      await emptyDatabase(store.sql);
      await t.test(name, (t) => body(t, store));
    }
  });
