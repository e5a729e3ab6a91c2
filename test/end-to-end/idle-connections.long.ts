/**
 * Idle connections stay for 75 s on each front, in clear text and under TLS: load balancers, which
 * close theirs after 60, never send a request into one that we close.
 */

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { Test } from 'tap';
import t from 'tap';
import { CertificateOnDisk } from '../support/certificate-on-disk.ts';
import { enginePlace } from '../support/engine-place.ts';
import { onEachFront } from '../support/fronts.ts';
import type { Lifetime } from '../support/lifetime.ts';
import { startEngine } from '../support/processes.ts';

const IDLE_MS = 75_000;
/** After this an idle connection is asked once more. */
const ASKED_AGAIN_MS = 70_000;
/** uWebSockets.js closes up to 14 s after it is left alone. */
const CLOSED_MS_MAX = IDLE_MS + 15_000;
const ASK = 'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n';
const CONNECTIONS = 8;
const { test } = await onEachFront(t);

t.setTimeout(600_000);

test('idle connections', (t, { kind }) =>
  Promise.all([stayOpen(t, kind, 'clear text'), stayOpen(t, kind, 'TLS')]).then(() => undefined));

async function stayOpen(t: Test, kind: 'node' | 'uws', over: 'clear text' | 'TLS'): Promise<void> {
  const { dataDir, environment } = await enginePlace(t);
  const more = over === 'TLS' ? (await CertificateOnDisk.make(t)).settings : {};
  const engine = await startEngine(t, dataDir, { ...environment, ...more, HTTP_FRONT: kind });
  const port = Number(new URL(engine.baseUrl).port);
  const sockets = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => (over === 'TLS' ? openTls : openPlain)(t, port)),
  );
  for (const socket of sockets) t.match(await ask(socket), /^HTTP\/1\.1 200 OK\r\n/, over);
  await sleep(ASKED_AGAIN_MS);
  for (const socket of sockets) t.match(await ask(socket), /^HTTP\/1\.1 200 OK\r\n/, 'again');
  const startedMs = performance.now();
  await Promise.all(sockets.map((socket) => once(socket.resume(), 'close')));
  const ms = performance.now() - startedMs;
  t.ok(ms > IDLE_MS - 1_000 && ms < CLOSED_MS_MAX, `${over}: closed after ${ms} ms`);
  t.equal(await engine.end('SIGTERM'), 0);
}

async function openPlain(t: Lifetime, port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  t.teardown(() => socket.destroy());
  await once(socket, 'connect');
  return socket.setEncoding('latin1');
}

async function openTls(t: Lifetime, port: number): Promise<Socket> {
  const socket = connectTls({ port, rejectUnauthorized: false });
  t.teardown(() => socket.destroy());
  await once(socket, 'secureConnect');
  return socket.setEncoding('latin1');
}

/** The answer; a text that says so where the connection is closed. */
async function ask(socket: Socket): Promise<string> {
  if (socket.destroyed) return 'closed';
  socket.write(ASK);
  const closed = once(socket, 'close').then(() => ['closed']);
  const [heard] = await Promise.race([once(socket, 'data'), closed]);
  return String(heard);
}
