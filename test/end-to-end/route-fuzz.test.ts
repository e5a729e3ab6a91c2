/** Some hundred mutated requests over all routes; ten thousand: route-fuzz.long.ts. */

import t from 'tap';
import { fuzzRoutes } from '../support/route-fuzz/play.ts';
import { withStores } from '../support/store.ts';

await withStores(t, (t, store) => fuzzRoutes(t, store, { requests: 300, seed: 20_261_123 }));
