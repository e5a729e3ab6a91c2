/** Ten thousand mutated requests over all routes, on each store. */

import t from 'tap';
import { fuzzRoutes } from '../support/route-fuzz/play.ts';
import { withStores } from '../support/store.ts';

t.setTimeout(1_000_000);

await withStores(t, (t, store) => fuzzRoutes(t, store, { requests: 10_000, seed: 17 }));
