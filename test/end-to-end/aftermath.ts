/** Checks while a send is under way and after one of its engines was killed or frozen. */

import type { Test } from 'tap';
import type { StatusRow } from '../support/client.ts';
import { accepted, deliveries, finalStatus, push, sumCloses } from '../support/client.ts';
import { until } from '../support/poll.ts';
import type { EngineProcess } from '../support/processes.ts';
import type { Scene } from './scene.ts';
import { APNS_DEVICES, DEVICES, FCM_DEVICES } from './scene.ts';

/** Internals/crashes.md: sent and not yet recorded, per worker. */
export const UNRECORDED_DEVICES_MAX = 16_384;
export const WORKERS = 2;
/** Short, so that a test need not wait half a minute for a dead node's lease. */
export const LEASE = { CHUNK_LEASE_MS: '3000', WORKERS: String(WORKERS) };
const SEND_LIMIT_MS = 120_000;

/** kill -9 in the middle of a send; the next start has to finish it. */
export async function killedAlone(t: Test, scene: Scene): Promise<void> {
  const victim = await scene.start(LEASE);
  const job = await push(victim.baseUrl, scene.demo, [scene.tagId]);
  await reached(scene, 20_000);
  await victim.end('SIGKILL');
  const sentBefore = await total(scene);
  t.ok(sentBefore < DEVICES, `killed in the middle: ${sentBefore} of ${DEVICES} were sent`);
  const next = await scene.start(LEASE);
  await settled(t, scene, next, job);
  // At once, and from a new process, which finds them counted by day or counts them.
  await hasStatistics(t, scene, next);
  await next.end('SIGKILL');
  await hasStatistics(t, scene, await scene.start(LEASE));
}

/** The statistics of its tag and app have the one send to all devices. */
async function hasStatistics(t: Test, { demo, tagId }: Scene, { baseUrl }: EngineProcess) {
  for (const subject of [`tag/${tagId}`, `app/${demo.appId}`]) {
    const response = await fetch(`${baseUrl}/push-admin-api/v3/${demo.clientId}/stats/${subject}`, {
      headers: { authorization: `Bearer ${demo.superUser.token}` },
    });
    const sent = { notifications: 1, delivered: DEVICES, failed: 0 };
    t.match(await response.json(), { ...sent, subscribers: DEVICES, daily: [sent] }, subject);
  }
}

/**
 * The same, at most once: a send with an unknown outcome has failed, and no device has it twice.
 */
export async function killedAtMostOnce(t: Test, scene: Scene): Promise<void> {
  const victim = await scene.start(LEASE);
  const delivery = 'at-most-once';
  const job = await push(victim.baseUrl, scene.demo, [scene.tagId], undefined, { delivery });
  await reached(scene, 20_000);
  await victim.end('SIGKILL');
  await settledAtMostOnce(t, scene, await scene.start(LEASE), job);
}

/**
 * The job is final, no device has it twice, and devices that may not have it at all have failed.
 */
export async function settledAtMostOnce(
  t: Test,
  scene: Scene,
  engine: EngineProcess,
  job: string,
): Promise<void> {
  const rows = await finalStatus(engine.baseUrl, scene.demo, job, SEND_LIMIT_MS);
  for (const row of rows) t.ok(sumCloses(row), `sums close: ${JSON.stringify(row)}`);
  let unknown = 0;
  for (const row of rows) {
    for (const [reason, count] of Object.entries(row.failureReasons ?? {})) {
      t.match(reason, /^OutcomeUnknown: /);
      unknown += count;
    }
  }
  t.equal(sum(rows, 'successCount') + unknown, DEVICES);
  await hasReached(t, scene, engine, job);
  t.ok(unknown > 0 && unknown < WORKERS * UNRECORDED_DEVICES_MAX, `${unknown} are not known`);
  for (const provider of ['apns', 'fcm'] as const) {
    const { times } = await deliveries(scene.simulator.controlUrl, provider);
    const often = Object.entries(times).filter(
      ([count, tokens]) => Number(count) > 1 && tokens > 0,
    );
    t.same(often, [], `${provider}: nobody has it twice`);
  }
}

/** The job is final, its sums close, every device has it, and few have it twice. */
export async function settled(
  t: Test,
  scene: Scene,
  engine: EngineProcess,
  job: string,
): Promise<void> {
  const rows = await finalStatus(engine.baseUrl, scene.demo, job, SEND_LIMIT_MS);
  t.same(new Set(rows.map((row) => row.state)), new Set(['FINISHED']));
  for (const row of rows) t.ok(sumCloses(row), `sums close: ${JSON.stringify(row)}`);
  t.equal(sum(rows, 'successCount'), DEVICES);
  await hasReached(t, scene, engine, job);
  const apns = await deliveries(scene.simulator.controlUrl, 'apns');
  const fcm = await deliveries(scene.simulator.controlUrl, 'fcm');
  t.equal(apns.tokens, APNS_DEVICES, 'no APNs device was missed');
  t.equal(fcm.tokens, FCM_DEVICES, 'no FCM device was missed');
  const twice = (await total(scene)) - DEVICES;
  t.ok(twice <= WORKERS * UNRECORDED_DEVICES_MAX, `${twice} were sent twice`);
}

/** Its reach has each device once: accepted, or of unknown outcome. */
async function hasReached(t: Test, { demo }: Scene, { baseUrl }: EngineProcess, job: string) {
  const response = await fetch(`${baseUrl}/push-api/v3/${demo.clientId}/notifications/${job}`, {
    headers: { authorization: `Bearer ${demo.superUser.token}` },
  });
  const { reach, finishedAt } = (await response.json()) as Record<string, unknown>;
  t.same(reach, { devices: DEVICES, until: Number(finishedAt) + 7 * 86_400_000 });
}

/** All that the simulator has accepted. */
export const total = async ({ simulator }: Scene): Promise<number> =>
  (await accepted(simulator.controlUrl, 'apns')) + (await accepted(simulator.controlUrl, 'fcm'));

/** Waits until so many were accepted. */
export const reached = (scene: Scene, sends: number): Promise<true> =>
  until(`${sends} sends`, async () => ((await total(scene)) >= sends ? true : null), SEND_LIMIT_MS);

export const sum = (rows: readonly StatusRow[], field: 'successCount'): number =>
  rows.reduce((total, row) => total + row[field], 0);
