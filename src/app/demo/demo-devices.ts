/**
 * The simulated devices of the demo's app: the first send of a newcomer reaches somebody. Their
 * tokens are made up, so they exist only while a simulator takes their pushes.
 */

import { listApps } from '../../catalogue/list-apps.ts';
import { findClient } from '../../clients/find-client.ts';
import { readClock } from '../../database/read-clock.ts';
import type { SqlPool } from '../../database/sql.ts';
import { DeviceLimit } from '../../devices/device-limit.ts';
import { eraseDevices } from '../../devices/erase-devices.ts';
import { NO_FACETS } from '../../devices/facets.ts';
import { commitImported } from '../../devices/import/import-commit.ts';
import { NO_NUMBERS } from '../../devices/numbers.ts';
import type { DeviceRef } from '../../devices/operation.ts';
import { deviceRef } from '../../devices/operation.ts';
import { Ordinals } from '../../devices/ordinals.ts';
import type { DeviceKey } from '../../devices/sql/find-devices.ts';
import { wantedDevices } from '../../devices/sql/find-devices.ts';
import { NO_ATTRIBUTES } from '../../domain/device-attributes.ts';
import type { DevicePlace } from '../../domain/device-group-change.ts';
import { IMPORT_SLOT } from '../../statistics/slots.ts';
import { NO_FEED } from '../../tag-index/tag-index.ts';
import type { Config } from '../config.ts';
import { DEMO_DEVICES_MAX } from '../config.ts';
import type { Demo } from './demo.ts';
import { DEMO_SLUG, tokenOf } from './demo.ts';

type Limits = Pick<Config, 'DEMO_DEVICES' | 'DEVICES_PER_APP_MAX' | 'TAGS_PER_DEVICE_MAX'>;

/**
 * Adds them to an app that has no device yet, half on each platform: all have the first tag, every
 * second one the second tag, every third one the third. One transaction: an app has all or none.
 * `real`: platforms whose pushes go to the provider itself.
 */
export async function addDemoDevices(
  sql: SqlPool,
  { appId, tagIds, platformIds }: Demo,
  { DEMO_DEVICES, DEVICES_PER_APP_MAX, TAGS_PER_DEVICE_MAX }: Limits,
  real: readonly number[],
): Promise<void> {
  const simulated = platformIds.filter((id) => !real.includes(id));
  if (simulated.length === 0 || (await hasDevices(sql, appId))) return;
  const startedAtMs = await readClock(sql);
  const context = {
    sql,
    // An index in Redis sees by the versions of the groups what it lacks.
    feed: NO_FEED,
    ordinals: new Ordinals(sql, new DeviceLimit(DEVICES_PER_APP_MAX)),
    tagsPerDeviceMax: TAGS_PER_DEVICE_MAX,
    slot: IMPORT_SLOT,
  };
  const devices = devicesOf(appId, simulated, DEMO_DEVICES);
  const operations = devices.map((device, at) => {
    const turn = Math.floor(at / simulated.length);
    return {
      device,
      attributes: NO_ATTRIBUTES,
      facets: NO_FACETS,
      numbers: NO_NUMBERS,
      registeredAtMs: startedAtMs,
      tagIds: tagIds.filter((_, i) => turn % (i + 1) === 0),
      replacesTags: false,
      startedAtMs,
    };
  });
  await commitImported(context, operations);
}

/** Erases those on platforms whose pushes go to the provider itself. */
export async function eraseDemoDevices(sql: SqlPool, real: readonly number[]): Promise<void> {
  const client = real.length === 0 ? null : await findClient(sql, DEMO_SLUG);
  if (client === null) return;
  const [app] = await listApps(sql, client.id);
  if (app === undefined) return;
  const platformIds = app.platforms
    .map(({ platformId }) => platformId)
    .filter((id) => real.includes(id));
  if (platformIds.length === 0 || !(await hasDevices(sql, app.id))) return;
  const keys = devicesOf(app.id, platformIds, platformIds.length * DEMO_DEVICES_MAX);
  const places = await findPlaces(sql, keys);
  await eraseDevices(
    sql,
    places.map((place) => ({ ...place, registeredBeforeMs: null })),
  );
}

const hasDevices = async (sql: SqlPool, appId: number): Promise<boolean> =>
  (await sql`select from devices where app_id = ${appId} limit 1`).length > 0;

const findPlaces = (sql: SqlPool, keys: readonly DeviceKey[]) => sql<DevicePlace[]>`
  select d.app_id as "appId", d.platform_id as "platformId", d.ordinal
  from devices d join ${wantedDevices(sql, keys)}
    on d.app_id = wanted.app_id and d.platform_id = wanted.platform_id and d.device_key = wanted.device_key`;

/** The same ones each time, on the platforms in turn. */
const devicesOf = (
  appId: number,
  platformIds: readonly number[],
  count: number,
): readonly DeviceRef[] =>
  Array.from({ length: count }, (_, at) => {
    const platformId = platformIds[at % platformIds.length] ?? 0;
    const number = Math.floor(at / platformIds.length);
    return deviceRef(appId, platformId, tokenOf(platformId, number));
  });
