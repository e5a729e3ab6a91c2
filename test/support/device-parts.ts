/** The parts that actions on devices need, on a store. */

import { Catalogue } from '../../src/catalogue/catalogue.ts';
import type { Store } from '../../src/database/store.ts';
import {
  IMPORT_LANES,
  IMPORT_LANES_EMBEDDED,
  Importer,
} from '../../src/devices/import/importer.ts';
import type { DeviceParts } from '../../src/operator/device-actions.ts';
import { NO_FEED } from '../../src/tag-index/tag-index.ts';
import type { Limits } from './app-api.ts';
import { silent } from './app-api.ts';

export const makeImporter = ({ sql, address }: Store, limits: Limits = {}): Importer =>
  new Importer({
    sql,
    feed: NO_FEED,
    log: silent,
    onCommitted: () => undefined,
    lanes: address.kind === 'embedded' ? IMPORT_LANES_EMBEDDED : IMPORT_LANES,
    devicesPerAppMax: limits.devicesPerAppMax ?? 1_000_000,
    tagsPerDeviceMax: limits.tagsPerDeviceMax ?? 5_000,
  });

export const makeDeviceParts = (store: Store, limits: Limits = {}): DeviceParts => ({
  sql: store.sql,
  catalogue: new Catalogue(store.sql),
  importer: makeImporter(store, limits),
  tagsPerDeviceMax: limits.tagsPerDeviceMax ?? 5_000,
});
