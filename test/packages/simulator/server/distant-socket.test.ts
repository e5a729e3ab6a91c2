/**
 * A connection from afar: what is written arrives later, whole and in order, and so does its end.
 */

import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import type { Test } from 'tap';
import t from 'tap';
import { DistantSocket } from '../../../../packages/simulator/src/server/distant-socket.ts';
import { apnsHeaders, apnsToken, ask, open, simulate } from '../peer.ts';

const ROUND_TRIP_MS = 100;
/** Timers are counted from the turn's beginning. */
const EARLY_MS_MAX = 5;

async function pair(t: Test): Promise<{ far: DistantSocket; near: Socket }> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [socket] = await accepted;
  const far = new DistantSocket(socket, ROUND_TRIP_MS);
  far.on('error', () => undefined);
  t.teardown(() => {
    far.destroy();
    near.destroy();
    server.close();
  });
  return { far, near };
}

t.test('what is written arrives a round trip later, whole and in order', async (t) => {
  const { far, near } = await pair(t);
  const startedMs = performance.now();
  const reused = Buffer.alloc(100_000);
  let isEarly = false;
  let received = 0;
  let next = 0;
  near.on('data', (chunk: Buffer) => {
    if (received === 0) isEarly = performance.now() - startedMs < ROUND_TRIP_MS - EARLY_MS_MAX;
    received += chunk.length;
    for (const octet of chunk) {
      if (octet < next) t.fail('out of order');
      next = octet;
    }
  });
  for (let index = 0; index < 50; index += 1) {
    reused.fill(index);
    await new Promise<void>((resolve) => {
      far.write(reused, () => resolve());
    });
  }
  far.end();
  await once(near, 'end');
  t.notOk(isEarly, 'not before its time');
  t.equal(received, 50 * reused.length);
  t.equal(next, 49);
});

t.test('what comes in comes at once', async (t) => {
  const { far, near } = await pair(t);
  near.write('hello');
  const [chunk] = await once(far, 'data');
  t.equal(String(chunk), 'hello');
});

t.test('what was on its way arrives although the writer is gone', async (t) => {
  const { far, near } = await pair(t);
  far.write('last words');
  far.destroy();
  const [chunk] = await once(near, 'data');
  t.equal(String(chunk), 'last words');
  await once(near, 'close');
});

t.test('a client that goes ends it', async (t) => {
  const { far, near } = await pair(t);
  near.destroy();
  far.resume();
  await once(far, 'close');
});

t.test('more than the way holds waits for room', async (t) => {
  const { far, near } = await pair(t);
  near.resume();
  const large = Buffer.alloc(16 * 1_024 * 1_024);
  let isWritten = false;
  far.write(large, () => {
    isWritten = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  t.notOk(isWritten);
  far.end();
  await once(far, 'finish');
  t.ok(isWritten);
});

t.test('a distant provider: handshakes, SETTINGS and answers take their time', async (t) => {
  const simulator = await simulate(t, { roundTripMs: ROUND_TRIP_MS });
  const startedMs = performance.now();
  const session = open(t, simulator, simulator.apnsOrigin);
  await once(session, 'remoteSettings');
  const settledMs = performance.now();
  // TCP, TLS, and the SETTINGS themselves.
  t.ok(settledMs - startedMs >= 3 * ROUND_TRIP_MS - EARLY_MS_MAX);
  const headers = await apnsHeaders(simulator.accounts, apnsToken(1));
  const sentMs = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => ask(session, headers, '{"aps":{}}')),
  );
  t.ok(answers.every(({ status }) => status === 200));
  t.ok(performance.now() - sentMs >= ROUND_TRIP_MS - EARLY_MS_MAX);
});
