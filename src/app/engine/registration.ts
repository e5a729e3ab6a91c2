/** Puts registration, the replacing of devices and their import together. */

import type { Logger } from 'pino';
import type { Store } from '../../database/store.ts';
import { IMPORT_LANES, IMPORT_LANES_EMBEDDED, Importer } from '../../devices/import/importer.ts';
import { Registration } from '../../devices/register/registration.ts';
import {
  REPLACEMENT_LANES,
  REPLACEMENT_LANES_EMBEDDED,
  Replacements,
} from '../../devices/replace/replacements.ts';
import type { IndexFeed } from '../../tag-index/tag-index.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Config } from '../config.ts';

const HOUR_MS = 3_600_000;

export function startRegistration(
  config: Config,
  store: Store,
  feed: IndexFeed,
  log: Logger,
  metrics: Metrics,
): Registration {
  const registration = new Registration({
    store,
    feed,
    log,
    inFlightMax: config.REGISTRATIONS_IN_FLIGHT_MAX,
    devicesPerAppMax: config.DEVICES_PER_APP_MAX,
    tagsPerDeviceMax: config.TAGS_PER_DEVICE_MAX,
    freshMs: config.REGISTRATION_REFRESH_HOURS * HOUR_MS,
  });
  metrics.watchQueue('registrations', () => registration.depth);
  const { looked, written } = registration.stages;
  metrics.watchRegistration(() => [
    { stage: 'look', seconds: looked.seconds.reading, operations: looked.operations.reading },
    { stage: 'write', seconds: written.seconds.reading, operations: written.operations.reading },
  ]);
  return registration;
}

export const createReplacements = (
  config: Config,
  store: Store,
  feed: IndexFeed,
  log: Logger,
): Replacements =>
  new Replacements({
    sql: store.sql,
    feed,
    log,
    lanes: store.address.kind === 'embedded' ? REPLACEMENT_LANES_EMBEDDED : REPLACEMENT_LANES,
    tagsPerDeviceMax: config.TAGS_PER_DEVICE_MAX,
  });

export const createImporter = (
  config: Config,
  { sql, address }: Store,
  feed: IndexFeed,
  log: Logger,
  metrics: Metrics,
): Importer =>
  new Importer({
    sql,
    feed,
    log,
    onCommitted(devices) {
      metrics.registrations.with({ operation: 'import' }).value += devices;
    },
    lanes: address.kind === 'embedded' ? IMPORT_LANES_EMBEDDED : IMPORT_LANES,
    devicesPerAppMax: config.DEVICES_PER_APP_MAX,
    tagsPerDeviceMax: config.TAGS_PER_DEVICE_MAX,
  });
