/** Some hundred mutated requests over all routes; ten thousand: route-fuzz.long.ts. */

import t from 'tap';
import { fuzzRoutes } from '../support/route-fuzz/play.ts';
import { withPostgresStore } from '../support/store.ts';

await withPostgresStore(t, (t, store) => fuzzRoutes(t, store, { requests: 200, seed: 20_261_123 }));
