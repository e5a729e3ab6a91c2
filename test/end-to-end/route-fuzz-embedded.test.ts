/** See route-fuzz.test.ts: other requests, on the embedded store. */

import t from 'tap';
import { fuzzRoutes } from '../support/route-fuzz/play.ts';
import { withEmbeddedStore } from '../support/store.ts';

await withEmbeddedStore(t, (t, store) => fuzzRoutes(t, store, { requests: 200, seed: 20_261_323 }));
