/** The stores on which the tests of the file that runs now are to run; `lane.ts` says it. */

import type { Stores } from './assignment.ts';

let wanted: Stores = 'both';

export const storesWanted = (): Stores => wanted;

export function wantStores(stores: Stores): void {
  wanted = stores;
}
