/** Devices show a job once, though at-least-once delivery sent it to some of them twice. */

import { setTimeout } from 'node:timers/promises';
import type { Test } from 'tap';
import t from 'tap';
import type { ProviderState } from '../../../packages/simulator/src/record/record.ts';
import type { Shown } from '../../../packages/simulator/src/record/screens.ts';
import type { PushSubscription } from '../../../packages/simulator/src/webpush/push-subscriptions.ts';
import type { Store } from '../../../src/database/store.ts';
import type { Payload } from '../../../src/domain/notification.ts';
import { finalRows, pushTo, submit } from '../../support/fan-out-pushes.ts';
import type { Tenant } from '../../support/notifications.ts';
import { makeTenant } from '../../support/notifications.ts';
import { webPushCredential } from '../../support/provider-credentials.ts';
import { seedDevices } from '../../support/seed.ts';
import { credentialOf, fanOutFor } from '../../support/sending.ts';
import { behave, freshSimulator } from '../../support/simulator.ts';
import { withStores } from '../../support/store.ts';

const DEVICES = 100;
const PROVIDERS = { 3: 'apns', 15: 'fcm', 7: 'webpush' } as const;
type PlatformId = keyof typeof PROVIDERS;
const PLATFORM_IDS = [3, 15, 7] as const satisfies readonly PlatformId[];
/** Connections are cut, with the last five messages accepted and not answered. */
const CUT = { keepsShown: true, ends: { cut: 40 } } as const;

const simulator = await freshSimulator();
const vapid = webPushCredential();

await withStores(t, async (t, store) => {
  await t.test('a message that was sent twice shows once, on each platform', async (t) => {
    const tenant = await makeReaders(store, 'once');
    const fanOut = await sendingTo(t, store);
    const readers = await seedReaders(store, tenant);
    const id = await submit(fanOut, tenant);
    const rows = await finalSoon(store, tenant, id);
    t.equal(rows.length, 3);
    for (const { platformId, delivered } of rows) t.equal(delivered, DEVICES, `${platformId}`);
    for (const { name, tokens } of readers) {
      const duplicates = await duplicatesAt(name);
      t.ok(duplicates > 0, `${name}: some got it twice`);
      for (const token of tokens) {
        t.match(await shownOn(name, token), [{ identity: id, title: 'goal!', pushId: id }], token);
      }
    }
    await fanOut.drain();
  });

  await t.test('without an identity it shows as often as it came', async (t) => {
    const tenant = await makeReaders(store, 'twice');
    const fanOut = await sendingTo(t, store, false);
    const readers = await seedReaders(store, tenant);
    const id = await submit(fanOut, tenant);
    await finalSoon(store, tenant, id);
    for (const { name, tokens } of readers) {
      const duplicates = await duplicatesAt(name);
      t.ok(duplicates > 0, `${name}: some got it twice`);
      const shown = await Promise.all(tokens.map((token) => shownOn(name, token)));
      t.equal(shown.flat().length, DEVICES + duplicates, name);
      t.ok(shown.flat().every(({ identity }) => identity === null));
    }
    await fanOut.drain();
  });

  await t.test('two jobs replace each other by their collapseId only', async (t) => {
    const tenant = await makeReaders(store, 'two');
    const fanOut = await sendingTo(t, store);
    const readers = await seedReaders(store, tenant, 2, { keepsShown: true });
    const send = async (payload: Partial<Payload>) => {
      const id = await submit(
        fanOut,
        tenant,
        pushTo(tenant, { payload: { data: {}, ...payload } }),
      );
      await finalRows(store, tenant, id);
    };
    await send({ title: 'news' });
    await send({ title: '1:0', collapseId: 'match-7' });
    await send({ title: 'more news' });
    await send({ title: '1:1', collapseId: 'match-7' });
    await send({ title: 'shown to nobody', silent: true });
    for (const { name, tokens } of readers) {
      for (const token of tokens) {
        const titles = (await shownOn(name, token)).map(({ title }) => title);
        // A silent push to a browser has to show something.
        t.same(titles.slice(0, 3), ['news', 'more news', '1:1'], name);
        t.equal(titles.length, name === 'webpush' ? 4 : 3, name);
      }
    }
    await fanOut.drain();
  });
});

function sendingTo(t: Test, store: Store, replaceableDefault = true) {
  return fanOutFor(t, store, simulator, {
    replaceableDefault,
    credentials: async (_appId, platformId) =>
      platformId === 7 ? vapid : credentialOf(simulator, platformId),
  });
}

async function makeReaders({ sql }: Store, slug: string): Promise<Tenant> {
  const tenant = await makeTenant(sql, slug);
  await sql`insert into app_platforms (app_id, platform_id) values (${tenant.appId}, 7)`;
  return tenant;
}

/** Retries wait for ten seconds and longer: here they are due at once. */
async function finalSoon(store: Store, tenant: Tenant, id: string) {
  let isFinal = false;
  const rows = finalRows(store, tenant, id).finally(() => {
    isFinal = true;
  });
  while (!isFinal) {
    await store.sql`
      update retries set due_at = now() where notification_id = ${id} and lease_until is null`;
    await setTimeout(200);
  }
  return await rows;
}

interface Readers {
  readonly name: (typeof PROVIDERS)[PlatformId];
  /** The names under which the simulator knows them. */
  readonly tokens: readonly string[];
}

/** So many devices on each platform. The simulator behaves so from now on. */
async function seedReaders(
  { sql }: Store,
  { appId, tagId }: Tenant,
  count = DEVICES,
  behaviour: Parameters<typeof behave>[1] = CUT,
): Promise<readonly Readers[]> {
  await behave(simulator, behaviour);
  const subscriptions = await ask<readonly PushSubscription[]>('/webpush/subscriptions', { count });
  const deviceIds = subscriptions.map((one) => JSON.stringify(one));
  for (const platformId of PLATFORM_IDS) {
    const given = platformId === 7 ? { deviceIds } : {};
    await seedDevices(sql, { appId, platformId, tagIds: [tagId], count, ...given });
  }
  const rows = await sql<{ platformId: PlatformId; deviceId: string }[]>`
    select platform_id as "platformId", device_id as "deviceId" from devices where app_id = ${appId}`;
  return PLATFORM_IDS.map((platformId) => ({
    name: PROVIDERS[platformId],
    tokens: rows
      .filter((row) => row.platformId === platformId)
      .map(({ deviceId }) => (platformId === 7 ? endOf(deviceId) : deviceId)),
  }));
}

/** The end of a subscription's endpoint, under which the simulator knows it. */
function endOf(subscription: string): string {
  return (JSON.parse(subscription) as PushSubscription).endpoint.replace(/.*\//, '');
}

async function ask<T>(path: string, body?: object): Promise<T> {
  const method = body === undefined ? 'GET' : 'POST';
  const response = await fetch(simulator.controlUrl + path, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await response.json()) as T;
}

function shownOn(name: string, token: string): Promise<readonly Shown[]> {
  return ask(`/shown/${name}/${encodeURIComponent(token)}`);
}

/** Its deliveries to devices that had the message already. */
async function duplicatesAt(name: Readers['name']): Promise<number> {
  const state = await ask<Readonly<Record<Readers['name'], ProviderState>>>('/state');
  return state[name].duplicates;
}
