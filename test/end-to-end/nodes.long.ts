/**
 * Rule one, with several nodes on one PostgreSQL: real processes are killed and frozen in the
 * middle of a send.
 */

import t from 'tap';
import { finalStatus, post, push } from '../support/client.ts';
import { until } from '../support/poll.ts';
import type { Demo, EngineProcess } from '../support/processes.ts';
import { withPostgres } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { killedAlone, LEASE, reached, settled, sum, total, WORKERS } from './aftermath.ts';
import { DEVICES, setScene } from './scene.ts';

/**
 * The most that a frozen process may have given to its connections: a worker has 1,000 streams to
 * APNs and 100 to FCM.
 */
const IN_HAND_MAX = WORKERS * 1_100;

/** So that a node has fewer places than the send has chunks, and leaves some to the other. */
const ONE_WORKER = { ...LEASE, WORKERS: '1' };

t.setTimeout(580_000);

t.test('kill -9 in the middle of a send on PostgreSQL', async (t) => {
  await withPostgres(t, async (t, url) => killedAlone(t, await setScene(t, url)));
});

for (const survivor of ['the node that accepted it', 'the other node'] as const) {
  t.test(`two nodes on one PostgreSQL share a send; ${survivor} survives`, async (t) => {
    await withPostgres(t, async (t, url) => {
      const scene = await setScene(t, url);
      const accepting = await scene.start(ONE_WORKER);
      const other = await scene.start(ONE_WORKER, temporaryDirectory(t));
      const [victim, left] =
        survivor === 'the other node' ? [accepting, other] : [other, accepting];
      const job = await push(accepting.baseUrl, scene.demo, [scene.tagId]);
      await reached(scene, 20_000);
      for (const node of [accepting, other])
        await until('each node sends a part', async () => (await sends(node)) > 0 || null);
      t.ok((await total(scene)) < DEVICES, 'and neither is done');
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
    // It is awake when it has registered a device of another tag and delivered to it, all by
    // itself.
    const rows = await finalStatus(frozen.baseUrl, scene.demo, await sendToOne(frozen, scene.demo));
    t.equal(sum(rows, 'successCount'), 1);
    const sentOn = (await total(scene)) - before - 1;
    t.ok(sentOn <= IN_HAND_MAX, `${sentOn} that its connections had in hand went out, no more`);
  });
});

/** Registers a device for the demo's second tag and pushes to that; resolves with the job. */
async function sendToOne({ baseUrl }: EngineProcess, demo: Demo): Promise<string> {
  const [, tagId = 0] = demo.tagIds;
  const device = { appId: demo.appId, platformId: 3, tagId, deviceId: 'cd'.repeat(32) };
  const response = await post(`${baseUrl}/push-api/reg`, demo.apiUser.token, device);
  if ((await response.text()) !== 'OK') throw new Error('the device was not registered');
  return push(baseUrl, demo, [tagId]);
}

/** The sends in a node's own metrics. */
async function sends(engine: EngineProcess): Promise<number> {
  const text = await (await fetch(`${engine.baseUrl}/metrics`)).text();
  return [...text.matchAll(/^tagcast_sends_total\{.*\} (\d+)$/gm)].reduce(
    (total, [, count]) => total + Number(count),
    0,
  );
}
