/**
 * Signals, on each front. SIGTERM while an app is about to speak: its request, on a connection that
 * was idle, is answered. SIGUSR1 and SIGUSR2 do nothing.
 */

import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { enginePlace } from '../support/engine-place.ts';
import { onEachFront } from '../support/fronts.ts';
import { until } from '../support/poll.ts';
import { startEngine } from '../support/processes.ts';

const { test } = await onEachFront(t);

t.setTimeout(240_000);

test('a registration on its way at SIGTERM', async (t, { kind }) => {
  const { dataDir, environment } = await enginePlace(t);
  const engine = await startEngine(t, dataDir, { ...environment, HTTP_FRONT: kind });
  const demo = engine.demo();
  const socket = connect(Number(new URL(engine.baseUrl).port), '127.0.0.1');
  socket.on('error', () => undefined);
  t.teardown(() => socket.destroy());
  let heard = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    heard += text;
  });
  await once(socket, 'connect');
  const register = (device: number): void => {
    const body = JSON.stringify({
      appId: demo.appId,
      platformId: 3,
      tagId: [demo.tagIds[0]],
      deviceId: device.toString(16).padStart(64, '0'),
    });
    const head = [
      'POST /push-api/reg HTTP/1.1',
      'Host: a',
      `Authorization: Bearer ${demo.apiUser.token}`,
    ];
    socket.write(`${head.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  };
  register(1);
  await until('the connection is in use', () => (heard.endsWith('\r\n\r\nOK') ? true : null));
  t.notMatch(heard, /Connection: close/);

  for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) {
    engine.child.kill(signal);
    await until('it says so', () =>
      engine.output().includes(`"signal":"${signal}"`) ? true : null,
    );
  }
  t.notMatch(engine.output(), /Debugger/, 'no debugger');

  heard = '';
  const exited = engine.end('SIGTERM');
  await until('it drains', () => (engine.output().includes('"msg":"draining"') ? true : null));
  // The time that a request may be on its way.
  await sleep(200);
  register(2);
  await until('it is answered', () => (heard.endsWith('\r\n\r\nOK') ? true : null), 5_000);
  t.match(heard, /^HTTP\/1\.1 200 OK\r\n(.*\r\n)*Connection: close\r\n/);
  t.equal(await exited, 0);
});
