/** The demo's devices: there from the first start on, and gone where a provider is a real one. */

import t from 'tap';
import { readConfig } from '../../../src/app/config.ts';
import { ensureDemo } from '../../../src/app/demo/demo.ts';
import { addDemoDevices, eraseDemoDevices } from '../../../src/app/demo/demo-devices.ts';
import type { SqlPool } from '../../../src/database/sql.ts';
import { realPlatforms } from '../../../src/providers/origins.ts';
import { secrets } from '../../support/api.ts';
import { seedDevices } from '../../support/seed.ts';
import { withStores } from '../../support/store.ts';

const settings = (environment: Readonly<Record<string, string>>) => {
  const read = readConfig(environment);
  if (!read.ok) throw new Error(read.faults.join(' '));
  return read.config;
};
const DEVICES = 120;
const CONFIG = settings({ DEMO_DEVICES: String(DEVICES) });
const OF_FCM = { FCM_ORIGIN: 'https://localhost:2', OAUTH_ORIGIN: 'https://localhost:2' };
const AT_SIMULATOR = { APNS_ORIGIN: 'https://localhost:1', ...OF_FCM };
const realWith = (environment: Readonly<Record<string, string>>) =>
  realPlatforms(settings(environment), null);
const SIMULATED = realWith(AT_SIMULATOR);

/** How many devices of an app there are on each platform. */
const onPlatforms = async (sql: SqlPool, appId: number) =>
  (
    await sql<{ readonly platformId: number; readonly devices: number }[]>`
      select platform_id as "platformId", count(*)::integer as devices from devices
      where app_id = ${appId} group by platform_id order by platform_id`
  ).map(({ platformId, devices }) => [platformId, devices]);

t.test('an app without devices gets them, with its tags', async (t) => {
  await withStores(t, async (t, { sql }) => {
    const demo = await ensureDemo(sql, secrets);
    await addDemoDevices(sql, demo, CONFIG, SIMULATED);
    const all = [
      [3, DEVICES / 2],
      [15, DEVICES / 2],
    ];
    t.same(await onPlatforms(sql, demo.appId), all);
    const counted = await sql<{ readonly tagId: number; readonly subscribers: number }[]>`
      select tag_id as "tagId", sum(subscribed - unsubscribed)::integer as subscribers
      from tag_days where app_id = ${demo.appId} and tag_id > 0 group by tag_id order by tag_id`;
    t.same(
      [...counted],
      demo.tagIds.map((tagId, i) => ({ tagId, subscribers: DEVICES / (i + 1) })),
    );
    await addDemoDevices(sql, demo, settings({ DEMO_DEVICES: '300' }), SIMULATED);
    t.same(await onPlatforms(sql, demo.appId), all, 'not again');
  });
});

t.test('a real provider never hears of them', async (t) => {
  await withStores(t, async (t, { sql }) => {
    const demo = await ensureDemo(sql, secrets);
    await addDemoDevices(sql, demo, CONFIG, realWith({}));
    t.same(await onPlatforms(sql, demo.appId), [], 'none is made');

    await addDemoDevices(sql, demo, CONFIG, SIMULATED);
    await seedDevices(sql, { ...demo, platformId: 3, count: 1 });
    await eraseDemoDevices(sql, SIMULATED);
    t.equal((await onPlatforms(sql, demo.appId)).length, 2, 'a simulator keeps them');
    await eraseDemoDevices(sql, realWith(OF_FCM));
    const [ios, android] = [
      [3, 1],
      [15, DEVICES / 2],
    ];
    t.same(await onPlatforms(sql, demo.appId), [ios, android], 'the one that somebody registered');
    await eraseDemoDevices(sql, realWith({}));
    t.same(await onPlatforms(sql, demo.appId), [ios]);
    await addDemoDevices(sql, demo, CONFIG, SIMULATED);
    t.same(await onPlatforms(sql, demo.appId), [ios], 'an app that has a device gets none');
  });
});
