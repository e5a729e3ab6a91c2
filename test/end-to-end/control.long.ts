/**
 * kill -9 between an order to a running send and its effect: the order stands, and nothing is lost.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import t from 'tap';
import { post, push } from '../support/client.ts';
import { until } from '../support/poll.ts';
import type { EngineProcess } from '../support/processes.ts';
import { withPostgres } from '../support/store.ts';
import { LEASE, reached, settled, total, UNRECORDED_DEVICES_MAX, WORKERS } from './aftermath.ts';
import type { Scene } from './scene.ts';
import { DEVICES, setScene } from './scene.ts';

const BEFORE_THE_ORDER = 20_000;
/** Longer than anything of the dead process could go on. */
const WATCHED_MS = 2_000;
const QUIET_MS = 500;
const LIMIT_MS = 120_000;

t.setTimeout(580_000);

t.test('paused and killed at once; resumed by the next process', async (t) => {
  await killedPaused(t, await setScene(t));
});

t.test('cancelled and killed at once; the next process counts the rest', async (t) => {
  await killedCancelled(t, await setScene(t));
});

t.test('both on PostgreSQL', async (t) => {
  await withPostgres(t, async (t, url) => {
    await killedPaused(t, await setScene(t, url));
  });
  await withPostgres(t, async (t, url) => {
    await killedCancelled(t, await setScene(t, url));
  });
});

/** Begins a send, gives the order in the middle of it, and kills the process after the answer. */
async function orderAndKill(scene: Scene, order: 'pause' | 'cancel'): Promise<string> {
  const victim = await scene.start(LEASE);
  const job = await push(victim.baseUrl, scene.demo, [scene.tagId]);
  await reached(scene, BEFORE_THE_ORDER);
  await give(victim, scene, job, order);
  await victim.end('SIGKILL');
  return job;
}

/** All that was sent, when what is on its way to the simulator has arrived. */
async function quietTotal(scene: Scene): Promise<number> {
  let known = await total(scene);
  return until('nothing arrives any more', async () => {
    await sleep(QUIET_MS);
    const before = known;
    known = await total(scene);
    return known === before ? known : null;
  });
}

async function killedPaused(t: Test, scene: Scene): Promise<void> {
  const job = await orderAndKill(scene, 'pause');
  const before = await quietTotal(scene);
  t.ok(before < DEVICES, `killed in the middle: ${before} of ${DEVICES} were sent`);
  const heir = await scene.start(LEASE);
  t.match(await read(heir, scene, job), { state: 'PAUSED' });
  await sleep(WATCHED_MS);
  t.equal(await total(scene), before, 'the next process sends nothing of it');
  t.match(await read(heir, scene, job), { state: 'PAUSED' });
  await give(heir, scene, job, 'resume');
  await settled(t, scene, heir, job);
}

async function killedCancelled(t: Test, scene: Scene): Promise<void> {
  const job = await orderAndKill(scene, 'cancel');
  const before = await quietTotal(scene);
  const heir = await scene.start(LEASE);
  const body = await until(
    'the rest is counted',
    async () => {
      const known = await read(heir, scene, job);
      return 'finishedAt' in known ? known : null;
    },
    LIMIT_MS,
  );
  const { successCount, cancelledCount, totalCount } = body;
  t.match(body, { state: 'CANCELLED', failedCount: 0, skippedCount: 0, expiredCount: 0 });
  t.equal(totalCount, DEVICES);
  t.equal(successCount + cancelledCount, DEVICES, 'the sum closes');
  t.equal(await total(scene), before, 'nothing is sent behind the order');
  t.ok(successCount <= before, `${successCount} of ${before} that were sent are recorded`);
  t.ok(before - successCount <= WORKERS * UNRECORDED_DEVICES_MAX);
}

interface Job {
  readonly state: string;
  readonly totalCount: number;
  readonly successCount: number;
  readonly cancelledCount: number;
}

const pathOf = ({ demo }: Scene, job: string): string =>
  `/push-api/v3/${demo.clientId}/notifications/${job}`;

async function read({ baseUrl }: EngineProcess, scene: Scene, job: string): Promise<Job> {
  const response = await fetch(baseUrl + pathOf(scene, job), {
    headers: { authorization: `Bearer ${scene.demo.superUser.token}` },
  });
  if (response.status !== 200) throw new Error(await response.text());
  return (await response.json()) as Job;
}

async function give(
  { baseUrl }: EngineProcess,
  scene: Scene,
  job: string,
  order: 'pause' | 'resume' | 'cancel',
): Promise<void> {
  const url = `${baseUrl + pathOf(scene, job)}/${order}`;
  const response = await post(url, scene.demo.superUser.token, {});
  if (response.status !== 200) throw new Error(await response.text());
}
