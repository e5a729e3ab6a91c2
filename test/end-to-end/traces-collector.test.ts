/** Collectors of traces that fail or hang: the engine goes on, and ends in time. */

import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import type { Test } from 'tap';
import t from 'tap';
import { within } from '../../src/std/within.ts';
import { startOtlpReceiver } from '../support/otlp-receiver.ts';
import { until } from '../support/poll.ts';
import { withPostgres } from '../support/store.ts';
import type { Scene } from './scene.ts';
import { setScene } from './scene.ts';
import { ended, post } from './traced-engine.ts';

t.setTimeout(240_000);

/** Many times what the exports may take (`EXPORT_TIMEOUT_MS`, 2 s): the machine is busy. */
const GONE_MS_MAX = 30_000;

await withPostgres(t, async (t, url) => {
  const scene = await setScene(t, url, { simulatorFlags: [], apnsDevices: 3, fcmDevices: 2 });
  await t.test('an engine that stops does not wait for a silent one', (t) => silent(t, scene));
  await t.test('without a collector all goes on, and the log says so once', (t) => away(t, scene));
});

async function away(t: Test, scene: Scene): Promise<void> {
  const nobody = await startOtlpReceiver(t);
  nobody.answerWith(404);
  const engine = await scene.start({ OTEL_EXPORTER_OTLP_ENDPOINT: nobody.endpoint });
  const push = { tagIds: [scene.tagId], payload: { title: 'goal!' } };
  await ended(engine, String((await post(engine, '', push))['id']));
  await until('an export has failed', () => (nobody.requests.length > 0 ? true : null));
  await ended(engine, String((await post(engine, '', push))['id']));
  t.equal(await engine.end('SIGTERM'), 0);
  t.equal(engine.output().match(/traces could not be exported/g)?.length, 1);
}

/** It takes the connection, and the spans, and says nothing: as a collector that hangs does. */
async function silent(t: Test, scene: Scene): Promise<void> {
  const sockets: Socket[] = [];
  const collector = createServer(
    (socket) => void sockets.push(socket.on('error', () => undefined)),
  );
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    collector.close();
  });
  const { port } = collector.address() as AddressInfo;
  const engine = await scene.start({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
  const push = { tagIds: [scene.tagId], payload: { title: 'goal!' } };
  await ended(engine, String((await post(engine, '', push))['id']));
  await until('an export is under way', () => (sockets.length > 0 ? true : null));
  t.equal(await within(GONE_MS_MAX, engine.end('SIGTERM'), 'still there'), 0);
}
