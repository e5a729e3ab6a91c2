/**
 * Rule one for many small sends: those that were accepted outlive the process that had hundreds of
 * them under way.
 */

import type { Test } from 'tap';
import t from 'tap';
import { deliveries, finalStatus, post, push, sumCloses } from '../support/client.ts';
import type { Demo, EngineProcess } from '../support/processes.ts';
import { withPostgres } from '../support/store.ts';
import { LEASE, reached } from './aftermath.ts';
import type { Scene } from './scene.ts';
import { setScene } from './scene.ts';

const SENDS = 1_000;
const SENT_BEFORE_THE_KILL = 200;
const CONNECTIONS = 32;
/** More are answered 503: a client has so many reads that may take long. */
const STATUSES_AT_ONCE = 2;
/** All are accepted by then, mostly: so that all of them are under way when the first are sent. */
const AHEAD_MS = 12_000;
const LIMIT_MS = 120_000;
const [APNS, FCM] = [3, 15] as const;

t.setTimeout(580_000);

/** Due together, when all are accepted; or each begins with its acceptance (decision 70). */
for (const due of ['later', 'at once'] as const) {
  t.test(`kill -9 with a thousand small sends under way, due ${due}`, async (t) => {
    await killed(t, await setScene(t, undefined, { apnsDevices: 1, fcmDevices: 1 }), due);
  });

  t.test(`kill -9 with a thousand small sends under way, due ${due}, on PostgreSQL`, async (t) => {
    await withPostgres(t, async (t, url) => {
      await killed(t, await setScene(t, url, { apnsDevices: 1, fcmDevices: 1 }), due);
    });
  });
}

/** A tag with one device, and the push to it. */
interface Small {
  readonly sourceId: string;
  readonly deviceId: string;
  readonly platformId: typeof APNS | typeof FCM;
}

/** Those of one platform go at least once, those of the other at most once. */
async function killed(t: Test, scene: Scene, due: 'later' | 'at once'): Promise<void> {
  const { demo } = scene;
  const victim = await scene.start(LEASE);
  const sends = await makeAudiences(victim, demo);
  const jobs = new Map<Small, string>();
  const sendAt = due === 'later' ? Date.now() + AHEAD_MS : undefined;
  let isKilled = false;
  const posting = inTurns(sends, async (small) => {
    const delivery = small.platformId === APNS ? 'at-most-once' : 'at-least-once';
    const more = { tagSourceIds: [small.sourceId], delivery, sendAt };
    try {
      jobs.set(small, await push(victim.baseUrl, demo, [], undefined, more));
    } catch (error) {
      // It was not answered: it may have been accepted, or not.
      if (!isKilled) throw error;
    }
  });
  if (due === 'later') await posting;
  await reached(scene, SENT_BEFORE_THE_KILL);
  isKilled = true;
  await victim.end('SIGKILL');
  await posting;
  t.ok(jobs.size >= SENT_BEFORE_THE_KILL / 2, `${jobs.size} were answered`);

  const heir = await scene.start(LEASE);
  const unknown: Small[] = [];
  const wrong: string[] = [];
  await inTurns(
    [...jobs],
    async ([small, job]) => {
      const rows = await finalStatus(heir.baseUrl, demo, job, LIMIT_MS);
      const delivered = rows.reduce((sum, { successCount }) => sum + successCount, 0);
      const total = rows.reduce((sum, { totalCount }) => sum + totalCount, 0);
      if (!rows.every(sumCloses) || total !== 1) wrong.push(JSON.stringify(rows));
      else if (delivered === 1) return;
      else if (small.platformId === APNS && isUnknown(rows)) unknown.push(small);
      else wrong.push(JSON.stringify(rows));
    },
    STATUSES_AT_ONCE,
  );
  t.strictSame(wrong.slice(0, 3), [], 'each has its one outcome');
  t.ok(unknown.length < SENDS / 2, `${unknown.length} are not known`);

  const got = new Set([...(await receivers(scene, 'apns')), ...(await receivers(scene, 'fcm'))]);
  const missed = [...jobs.keys()].filter(
    (small) => !got.has(small.deviceId) && !unknown.includes(small),
  );
  t.strictSame(missed.slice(0, 3), [], `none of ${jobs.size} is missed`);
  t.strictSame(await moreThanOnce(scene, 'apns'), [], 'at most once');
  const twice = await moreThanOnce(scene, 'fcm');
  t.ok(
    twice.every(([times]) => times === '2'),
    `at least once: ${JSON.stringify(twice)}`,
  );
}

const isUnknown = (rows: Awaited<ReturnType<typeof finalStatus>>): boolean =>
  rows.some(({ failureReasons = {} }) =>
    Object.keys(failureReasons).some((reason) => reason.startsWith('OutcomeUnknown: ')),
  );

async function makeAudiences(engine: EngineProcess, demo: Demo): Promise<readonly Small[]> {
  const sends = Array.from({ length: SENDS }, (_, n): Small => {
    const deviceId = `${n.toString(16).padStart(4, '0')}${'ab'.repeat(30)}`;
    return { sourceId: `parcel-${n}`, deviceId, platformId: n % 2 === 0 ? APNS : FCM };
  });
  const tags = sends.map(({ sourceId }) => ({ name: sourceId, sourceId }));
  const { baseUrl } = engine;
  const added = await post(
    `${baseUrl}/push-admin-api/tag/add/${demo.clientId}`,
    demo.superUser.token,
    { tags },
  );
  if (!added.ok) throw new Error(`the tags were not added: ${await added.text()}`);
  await inTurns(sends, async ({ sourceId, deviceId, platformId }) => {
    const device = { appId: demo.appId, platformId, tagSourceId: [sourceId], deviceId };
    const answer = await post(`${baseUrl}/push-api/reg`, demo.apiUser.token, device);
    if ((await answer.text()) !== 'OK') throw new Error(`${deviceId} was not registered`);
  });
  return sends;
}

/** Some at a time. */
async function inTurns<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
  atOnce = CONNECTIONS,
): Promise<void> {
  const left = items.values();
  const one = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

async function receivers(
  { simulator }: Scene,
  provider: 'apns' | 'fcm',
): Promise<readonly string[]> {
  const response = await fetch(`${simulator.controlUrl}/tokens/${provider}?limit=100000`);
  return (await response.json()) as readonly string[];
}

/** How many tokens have it how often, of those that have it more than once. */
async function moreThanOnce({ simulator }: Scene, provider: 'apns' | 'fcm') {
  const { times } = await deliveries(simulator.controlUrl, provider);
  return Object.entries(times).filter(([count, tokens]) => Number(count) > 1 && tokens > 0);
}
