/**
 * Caps over several nodes: real processes on one PostgreSQL, jobs at once, some of the nodes killed
 * in the middle and started again.
 */

import type { Test } from 'tap';
import { deliveries, finalStatus, push, sumCloses } from '../support/client.ts';
import { until } from '../support/poll.ts';
import type { EngineProcess } from '../support/processes.ts';
import { withPostgres } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { total } from './aftermath.ts';
import { setScene } from './scene.ts';

/** A node that died is replaced soon. */
const LEASE = { CHUNK_LEASE_MS: '3000', WORKERS: '1' };

interface Capped {
  readonly nodes: number;
  readonly jobs: number;
  readonly kills: number;
  readonly cap: number;
  readonly devices: number;
}

/**
 * Checks that no device gets more than the cap allows, and that the sums of each job close. At most
 * once: a device whose send was lost does not get it twice, which would be no matter of caps.
 */
export const cappedOverNodes = (t: Test, { nodes, jobs, kills, cap, devices }: Capped) =>
  withPostgres(t, async (t, url) => {
    const scene = await setScene(t, url, {
      simulatorFlags: ['--latency-ms=40'],
      apnsDevices: devices,
      fcmDevices: Math.floor(devices / 2),
    });
    const { simulator, demo, tagId } = scene;
    const engines: EngineProcess[] = [];
    for (let node = 0; node < nodes; node += 1) {
      engines.push(await scene.start(LEASE, node === 0 ? undefined : temporaryDirectory(t)));
    }
    const set = await fetch(`${engines[0]?.baseUrl}/push-admin-api/v3/${demo.clientId}/policies`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${demo.superUser.token}` },
      body: JSON.stringify({
        categories: [{ name: 'news', default: true, caps: [{ max: cap, per: '24h' }] }],
      }),
    });
    t.equal(set.status, 200);
    await fetch(`${simulator.controlUrl}/behaviour`, {
      method: 'PUT',
      body: JSON.stringify({ shares: { notFound: 0.05 } }),
    });
    const more = { delivery: 'at-most-once' };
    const ids = await Promise.all(
      Array.from({ length: jobs }, (_, job) =>
        push(engines[job % nodes]?.baseUrl ?? '', demo, [tagId], { title: 'goal!' }, more),
      ),
    );
    for (let kill = 1; kill <= kills; kill += 1) {
      const sends = Math.floor((devices * cap * kill) / (kills + 2));
      await until('the next kill is due', async () => ((await total(scene)) > sends ? true : null));
      const victim = kill % nodes;
      await engines[victim]?.end('SIGKILL');
      engines[victim] = await scene.start(LEASE, temporaryDirectory(t));
    }
    const [left] = engines;
    let withheld = 0;
    for (const id of ids) {
      const rows = await finalStatus(left?.baseUrl ?? '', demo, id, 120_000);
      for (const row of rows) {
        t.ok(sumCloses(row), `the sums of ${id} close: ${JSON.stringify(row)}`);
        withheld += row.withheldCount ?? 0;
      }
    }
    t.ok(withheld > 0, `${withheld} were left out`);
    for (const provider of ['apns', 'fcm'] as const) {
      const { times } = await deliveries(simulator.controlUrl, provider);
      const most = Math.max(...Object.keys(times).map(Number));
      t.ok(most <= cap, `nobody of ${provider} got more than ${cap}: ${JSON.stringify(times)}`);
      t.ok(most > 0, 'and some got it');
    }
  });
