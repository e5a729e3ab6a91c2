/** Puts registration, the replacing and the import of devices together, and the App API on them. */

import type { RequestCounts } from '../../api/metrics.ts';
import { GivenAttributes } from '../../attributes/given-attributes.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { TagTrees } from '../../catalogue/tag-tree.ts';
import { IMPORT_LANES, IMPORT_LANES_EMBEDDED, Importer } from '../../devices/import/importer.ts';
import { DeviceCounts, registrationMetrics } from '../../devices/metrics.ts';
import { OwnDevices } from '../../devices/own-devices.ts';
import { DeviceTags } from '../../devices/register/device-tags.ts';
import { Registration } from '../../devices/register/registration.ts';
import {
  REPLACEMENT_LANES,
  REPLACEMENT_LANES_EMBEDDED,
  Replacements,
} from '../../devices/replace/replacements.ts';
import { appApiRoutes } from '../../devices/routes/routes.ts';
import type { Route } from '../../http/handler.ts';
import { TokenBuckets } from '../../std/token-buckets.ts';
import type { IndexFeed } from '../../tag-index/tag-index.ts';
import type { Metric } from '../../telemetry/metric.ts';
import type { EngineParts } from './parts.ts';

const HOUR_MS = 3_600_000;
/**
 * About 100 bytes each.
 * @limit addresses whose rates are remembered, in each of two generations → forgotten, so with full
 * rate again
 */
const RATE_BUCKETS_MAX = 100_000;

export interface Devices {
  readonly registration: Registration;
  readonly attributes: GivenAttributes;
  readonly importer: Importer;
  readonly routes: readonly Route[];
  readonly metrics: readonly Metric[];
  /** Takes nothing more, and resolves when all that was taken is committed. */
  drain(): Promise<void>;
}

export function startDevices(
  { config, store, log }: EngineParts,
  feed: IndexFeed,
  catalogue: Catalogue,
  { overloads }: Pick<RequestCounts, 'overloads'>,
): Devices {
  const { sql } = store;
  const isEmbedded = store.address.kind === 'embedded';
  const tagsPerDeviceMax = config.TAGS_PER_DEVICE_MAX;
  const devicesPerAppMax = config.DEVICES_PER_APP_MAX;
  const counts = new DeviceCounts();
  const attributes = new GivenAttributes({
    sql,
    onNoRoom(reason) {
      counts.refusedValues.with({ reason }).value += 1;
    },
  });
  const registration = new Registration({
    store,
    feed,
    log,
    inFlightMax: config.REGISTRATIONS_IN_FLIGHT_MAX,
    devicesPerAppMax,
    tagsPerDeviceMax,
    freshMs: config.REGISTRATION_REFRESH_HOURS * HOUR_MS,
  });
  const importer = new Importer({
    sql,
    feed,
    log,
    onCommitted(devices) {
      counts.committed.with({ operation: 'import' }).value += devices;
    },
    lanes: isEmbedded ? IMPORT_LANES_EMBEDDED : IMPORT_LANES,
    devicesPerAppMax,
    tagsPerDeviceMax,
  });
  const lanes = isEmbedded ? REPLACEMENT_LANES_EMBEDDED : REPLACEMENT_LANES;
  const replacements = new Replacements({ sql, feed, log, lanes, tagsPerDeviceMax });
  return {
    registration,
    attributes,
    importer,
    metrics: [...counts.metrics, ...registrationMetrics(registration)],
    routes: appApiRoutes({
      catalogue,
      attributes,
      tagTrees: new TagTrees(sql),
      deviceTags: new DeviceTags(sql),
      ownDevices: new OwnDevices({ sql, feed }),
      registration,
      replacements,
      rates: new TokenBuckets({
        perSecond: config.REGISTRATIONS_PER_SECOND_MAX,
        bucketsMax: RATE_BUCKETS_MAX,
      }),
      tagsPerDeviceMax,
      onIgnored: (_endpoint, field) => {
        counts.ignoredParameters.with({ field }).value += 1;
      },
      onResult(operation, result) {
        if (result === 'overloaded') overloads.with({ part: 'registrations' }).value += 1;
        else counts.note(operation, result);
      },
    }),
    async drain() {
      await Promise.all([registration.drain(), replacements.drain(), importer.drain()]);
    },
  };
}
