/** Rule one: nothing is lost, nothing is counted twice. Real processes are killed and frozen in the middle of a send. */

import type { Test } from 'tap';
import t from 'tap';
import type { StatusRow } from '../support/client.ts';
import { accepted, deliveries, finalStatus, post, push, sumCloses } from '../support/client.ts';
import { until } from '../support/poll.ts';
import type { Demo, EngineProcess } from '../support/processes.ts';
import { withPostgres } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import type { Scene } from './scene.ts';
import { APNS_DEVICES, DEVICES, FCM_DEVICES, setScene } from './scene.ts';

/** architecture, section 5: sent and not yet recorded, per worker. */
const UNRECORDED_DEVICES_MAX = 16_384;
const WORKERS = 2;
/** Short, so that a test need not wait half a minute for a dead node's lease. */
const LEASE = { CHUNK_LEASE_MS: '3000', WORKERS: String(WORKERS) };
/** What a frozen process may have given to its connections: a worker has 1,000 streams to APNs and 100 to FCM. */
const IN_HAND_MAX = WORKERS * 1_100;
const SEND_LIMIT_MS = 120_000;

t.setTimeout(280_000);

t.test(
  'kill -9 in the middle of a send, embedded: start again, none missed, few sent twice',
  async (t) => {
    await killedAlone(t, await setScene(t));
  },
);

t.test('kill -9 in the middle of a send on PostgreSQL', async (t) => {
  await withPostgres(t, async (t, url) => killedAlone(t, await setScene(t, url)));
});

for (const survivor of ['the node that accepted it', 'the other node'] as const) {
  t.test(`two nodes on one PostgreSQL share a send; ${survivor} survives`, async (t) => {
    await withPostgres(t, async (t, url) => {
      const scene = await setScene(t, url);
      const accepting = await scene.start(LEASE);
      const other = await scene.start(LEASE, temporaryDirectory(t));
      const [victim, left] =
        survivor === 'the other node' ? [accepting, other] : [other, accepting];
      const job = await push(accepting.baseUrl, scene.demo, [scene.tagId]);
      await reached(scene, 20_000);
      for (const node of [accepting, other])
        t.ok((await sends(node)) > 0, 'each node sends a part');
      await victim.end('SIGKILL');
      await settled(t, scene, left, job);
    });
  });
}

t.test('a node frozen beyond its lease does not send on after it wakes', async (t) => {
  await withPostgres(t, async (t, url) => {
    const scene = await setScene(t, url);
    const frozen = await scene.start(LEASE);
    const job = await push(frozen.baseUrl, scene.demo, [scene.tagId]);
    await reached(scene, 10_000);
    frozen.child.kill('SIGSTOP');
    const other = await scene.start(LEASE, temporaryDirectory(t));
    await settled(t, scene, other, job);
    await other.end('SIGTERM');
    const before = await total(scene);
    frozen.child.kill('SIGCONT');
    // It is awake when it has registered a device of another tag and delivered to it, all by itself.
    const rows = await finalStatus(frozen.baseUrl, scene.demo, await sendToOne(frozen, scene.demo));
    t.equal(sum(rows, 'successCount'), 1);
    const sentOn = (await total(scene)) - before - 1;
    t.ok(sentOn <= IN_HAND_MAX, `${sentOn} that its connections had in hand went out, no more`);
  });
});

async function killedAlone(t: Test, scene: Scene): Promise<void> {
  const victim = await scene.start(LEASE);
  const job = await push(victim.baseUrl, scene.demo, [scene.tagId]);
  await reached(scene, 20_000);
  await victim.end('SIGKILL');
  const sentBefore = await total(scene);
  t.ok(sentBefore < DEVICES, `killed in the middle: ${sentBefore} of ${DEVICES} were sent`);
  await settled(t, scene, await scene.start(LEASE), job);
}

/** The job is final, its sums close, every device has it, and few have it twice. */
async function settled(t: Test, scene: Scene, engine: EngineProcess, job: string): Promise<void> {
  const rows = await finalStatus(engine.baseUrl, scene.demo, job, SEND_LIMIT_MS);
  t.same(new Set(rows.map((row) => row.state)), new Set(['FINISHED']));
  for (const row of rows) t.ok(sumCloses(row), `sums close: ${JSON.stringify(row)}`);
  t.equal(sum(rows, 'successCount'), DEVICES);
  const apns = await deliveries(scene.simulator.controlUrl, 'apns');
  const fcm = await deliveries(scene.simulator.controlUrl, 'fcm');
  t.equal(apns.tokens, APNS_DEVICES, 'no APNs device was missed');
  t.equal(fcm.tokens, FCM_DEVICES, 'no FCM device was missed');
  const twice = (await total(scene)) - DEVICES;
  t.ok(twice <= WORKERS * UNRECORDED_DEVICES_MAX, `${twice} were sent twice`);
}

/** Registers a device for the demo's second tag and pushes to that; resolves with the job. */
async function sendToOne({ baseUrl }: EngineProcess, demo: Demo): Promise<string> {
  const [, tagId = 0] = demo.tagIds;
  const device = { appId: demo.appId, platformId: 3, tagId, deviceId: 'cd'.repeat(32) };
  const response = await post(`${baseUrl}/push-api/reg`, demo.apiUser.token, device);
  if ((await response.text()) !== 'OK') throw new Error('the device was not registered');
  return push(baseUrl, demo, [tagId]);
}

const total = async ({ simulator }: Scene): Promise<number> =>
  (await accepted(simulator.controlUrl, 'apns')) + (await accepted(simulator.controlUrl, 'fcm'));

const reached = (scene: Scene, sends: number): Promise<true> =>
  until(`${sends} sends`, async () => ((await total(scene)) >= sends ? true : null), SEND_LIMIT_MS);

const sum = (rows: readonly StatusRow[], field: 'successCount'): number =>
  rows.reduce((total, row) => total + row[field], 0);

/** What a node says of itself in its metrics. */
async function sends(engine: EngineProcess): Promise<number> {
  const text = await (await fetch(`${engine.baseUrl}/metrics`)).text();
  return [...text.matchAll(/^tagcast_sends_total\{.*\} (\d+)$/gm)].reduce(
    (total, [, count]) => total + Number(count),
    0,
  );
}
