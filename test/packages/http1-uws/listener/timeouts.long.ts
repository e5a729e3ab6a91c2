/**
 * The times of uWebSockets.js, which has ten seconds for all, and where they are extended: idle
 * connections stay for as long as the listener says, in clear text and under TLS.
 */

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import t from 'tap';
import type { BodySink } from '../../../../packages/http1/src/body-stream.ts';
import { CertificateOnDisk } from '../../../support/certificate-on-disk.ts';
import { onUws } from '../../../support/fronts.ts';
import { until } from '../../../support/poll.ts';
import { answer, ask, echo, open, say, startUws, whenWhole } from '../../../support/uws.ts';

const LARGE = Buffer.alloc(40_000_000, 'x');
const { test } = await onUws(t);

t.setTimeout(180_000);

/** Milliseconds until it is closed. */
async function closesAfter(socket: Socket): Promise<number> {
  const begunMs = performance.now();
  await once(socket.resume(), 'close');
  return performance.now() - begunMs;
}

test('who says nothing, half a head or one byte by byte, or takes nothing of an answer', async (t, binary) => {
  const large = whenWhole((_head, _body, reply) => reply.send(answer(LARGE)));
  const listener = await startUws(t, binary, large);
  const silent = open(t, listener.port);
  const half = open(t, listener.port);
  half.write('POST / HTTP/1.1\r\nHo');
  const drip = open(t, listener.port);
  drip.write('POST / HTTP/1.1\r\nHo');
  const dripping = setInterval(() => drip.write('o'), 1_000);
  t.teardown(() => clearInterval(dripping));
  const { files } = await CertificateOnDisk.make(t);
  const certificate = { files, onChanged: () => undefined };
  const secured = await startUws(t, binary, large, { certificate });
  const silentTls = open(t, secured.port);
  const halfHandshake = open(t, secured.port);
  halfHandshake.write('\x16\x03\x01\x00\xc8', 'latin1');
  const unread = open(t, listener.port).pause();
  unread.write(say(''));
  for (const ms of await Promise.all(
    [silent, half, drip, silentTls, halfHandshake].map(closesAfter),
  )) {
    t.ok(ms > 6_000 && ms < 15_000, `closed after ${ms} ms`);
  }
  await sleep(3_000);
  t.equal(listener.crowd.size, 0);
  t.equal(listener.crowd.unsentBytes, 0);
});

test('a connection that was used stays for as long as the listener says', async (t, binary) => {
  const { files } = await CertificateOnDisk.make(t);
  const certificate = { files, onChanged: () => undefined };
  const idle = { idleTimeoutMs: 30_000 };
  const [plain, tls] = [
    await startUws(t, binary, echo, idle),
    await startUws(t, binary, echo, { ...idle, certificate }),
  ];
  const secure = connectTls({ port: tls.port, rejectUnauthorized: false }).setEncoding('latin1');
  t.teardown(() => secure.destroy());
  await once(secure, 'secureConnect');
  const sockets = [open(t, plain.port), secure];
  for (const socket of sockets) t.match(await ask(socket, say('first')), /first$/);
  await sleep(26_000);
  for (const socket of sockets) t.match(await ask(socket, say('still')), /still$/);
  for (const ms of await Promise.all(sockets.map(closesAfter))) {
    t.ok(ms > 25_000 && ms < 45_000, `closed after ${ms} ms`);
  }
});

test('a body may pause for longer than ten seconds', async (t, binary) => {
  const listener = await startUws(t, binary, echo);
  const socket = open(t, listener.port);
  const whole = say('in two pieces');
  socket.write(whole.slice(0, -5));
  await sleep(25_000);
  t.match(await ask(socket, whole.slice(-5)), /in two pieces$/);
});

test('a stream goes on after its caller has not read for a moment', async (t, binary) => {
  let sink: BodySink | null = null;
  const stream = (begun: BodySink) => {
    sink = begun;
    return () => undefined;
  };
  const handler = whenWhole((_head, _body, reply) => reply.send(answer('', { stream })));
  const listener = await startUws(t, binary, handler);
  const socket = open(t, listener.port).pause();
  socket.write(say(''));
  const begun = await until('it has begun', () => sink);
  while (listener.crowd.unsentBytes === 0) {
    begun.write('x'.repeat(50_000));
    await sleep(1);
  }
  await sleep(2_000);
  socket.resume();
  await until('all is sent', () => (listener.crowd.unsentBytes === 0 ? true : null));
  await sleep(20_000);
  t.equal(listener.crowd.size, 1, 'it waits for the next piece');
  begun.write('next');
  t.match((await once(socket, 'data'))[0], /next/);
});
