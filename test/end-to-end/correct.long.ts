/**
 * A correction in the middle of a send whose engines are killed, and of itself: every device shows
 * the new text alone.
 */

import t from 'tap';
import type { ProviderState } from '../../packages/simulator/src/record/record.ts';
import type { Shown } from '../../packages/simulator/src/record/screens.ts';
import { connect } from '../../src/database/sql.ts';
import { push } from '../support/client.ts';
import { until } from '../support/poll.ts';
import type { EngineProcess } from '../support/processes.ts';
import { withPostgres } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { reached } from './aftermath.ts';
import type { Scene } from './scene.ts';
import { setScene } from './scene.ts';

/** The simulator keeps the screens of as many of each provider. */
const APNS = 9_000;
const FCM = 6_000;
const ENVIRONMENT = { WORKERS: '1', CHUNK_LEASE_MS: '3000' };
const FLAGS = ['--latency-ms=100', '--lost-answer=0.001'];

t.setTimeout(580_000);

interface Job {
  readonly state: string;
  readonly finishedAt?: number;
  readonly totalCount: number;
  readonly successCount: number;
  readonly cancelledCount: number;
}

const call = async (
  { baseUrl }: EngineProcess,
  { demo }: Scene,
  path: string,
  body?: object,
): Promise<Record<string, unknown> & { readonly id: string }> => {
  const url = `${baseUrl}/push-api/v3/${demo.clientId}/notifications/${path}`;
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${demo.superUser.token}` },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  return (await response.json()) as Record<string, unknown> & { readonly id: string };
};

const ended = (engine: EngineProcess, scene: Scene, id: string) =>
  until(
    `${id} has ended`,
    async () => {
      const job = (await call(engine, scene, id)) as unknown as Job;
      return job.finishedAt === undefined ? null : job;
    },
    180_000,
  );

await withPostgres(t, async (t, url) => {
  const scene = await setScene(t, url, {
    simulatorFlags: FLAGS,
    apnsDevices: APNS,
    fcmDevices: FCM,
  });
  const control = scene.simulator.controlUrl;
  await fetch(`${control}/behaviour`, {
    method: 'PUT',
    body: JSON.stringify({ keepsShown: true }),
  });
  const start = () => scene.start(ENVIRONMENT, temporaryDirectory(t));
  const [first, second] = [await start(), await start()];
  const job = await push(first.baseUrl, scene.demo, [scene.tagId], { title: 'old' });
  await reached(scene, 3_000);
  await first.end('SIGKILL');
  const correction = await call(second, scene, `${job}/correct`, { payload: { title: 'new' } });
  t.type(correction.id, 'string', JSON.stringify(correction));
  const before = await ended(second, scene, job);
  t.equal(before.state, 'CANCELLED');
  await reached(scene, before.successCount + 4_000);
  await second.end('SIGKILL');
  const third = await start();
  const after = await ended(third, scene, correction.id);
  t.equal(after.state, 'FINISHED');
  const sql = connect({ kind: 'postgres', url }, 1);
  t.teardown(() => sql.end());
  const devices = await sql<{ token: string; platformId: number }[]>`
    select device_id as token, platform_id as "platformId" from devices
    where app_id = ${scene.demo.appId} and tag_ids @> ${[scene.tagId]}::integer[]`;
  t.equal(after.totalCount, devices.length, 'the reach and the rest are the audience');
  const wrong: unknown[] = [];
  for (let at = 0; at < devices.length; at += 50) {
    await Promise.all(
      devices.slice(at, at + 50).map(async ({ token, platformId }) => {
        const provider = platformId === 3 ? 'apns' : 'fcm';
        const answer = await fetch(`${control}/shown/${provider}/${token}`);
        const shown = (await answer.json()) as readonly Shown[];
        if (shown.length !== 1 || shown[0]?.title !== 'new') wrong.push({ token, shown });
      }),
    );
  }
  t.same(wrong.slice(0, 3), [], `${wrong.length} do not show the new text alone`);
  const state = (await (await fetch(`${control}/state`)).json()) as Record<string, ProviderState>;
  t.comment(JSON.stringify({ before, after, apns: state['apns'], fcm: state['fcm'] }));
});
