/**
 * The front under callers who mean harm, or read late: each of these was seen to harm others, or to
 * cut an answer.
 */

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { connect as connectTls } from 'node:tls';
import { pino } from 'pino';
import t from 'tap';
import type { ServerLimits, ServerOptions } from '../../../../src/api/server.ts';
import type { Front } from '../../../../src/http/choose-front.ts';
import type { Route } from '../../../../src/http/handler.ts';
import { Metrics } from '../../../../src/telemetry/metrics.ts';
import { PATIENT_LIMITS, startApi } from '../../../support/api.ts';
import { CertificateOnDisk } from '../../../support/certificate-on-disk.ts';
import { OWN_FRONT, onEachFront } from '../../../support/fronts.ts';
import type { Lifetime } from '../../../support/lifetime.ts';
import { until } from '../../../support/poll.ts';

/** More than the system keeps for a caller who does not read. */
const LARGE = Buffer.alloc(40_000_000, 'x');
const NOBODY = { recall: () => 'missing' as const, authenticate: () => 'missing' as const };
const echo: Route = {
  api: 'open',
  operation: null,
  method: 'POST',
  path: '/echo',
  bodyBytesMax: 1_000,
  handle: ({ body }) => ({ status: 200, body }),
};
const large: Route = {
  api: 'open',
  operation: null,
  method: 'GET',
  path: '/large',
  bodyBytesMax: 0,
  handle: async () => ({ status: 200, body: LARGE }),
};
const POST = 'POST /echo HTTP/1.1\r\nHost: a\r\n';
const start = (
  t: Lifetime,
  front: Front,
  more: Partial<ServerLimits> = {},
  options: Partial<ServerOptions> = {},
) =>
  startApi(t, NOBODY, [echo, large], {
    front,
    limits: { ...PATIENT_LIMITS, ...more },
    ...options,
  });
const { test, testWithPorts } = await onEachFront(t);

function open(t: Lifetime, port: number, localAddress = '127.0.0.1'): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.on('error', () => undefined);
  t.teardown(() => socket.destroy());
  return socket;
}

/** Reads nothing for a while, then everything; answers how many bytes came. */
async function readLate(socket: Socket, lateMs: number): Promise<number> {
  socket.pause();
  const closed = once(socket, 'close');
  await new Promise((resolve) => setTimeout(resolve, lateMs));
  let bytes = 0;
  socket.on('data', (data: Buffer) => {
    bytes += data.length;
    if (bytes >= LARGE.length) socket.end();
  });
  socket.resume();
  await closed;
  return bytes;
}

t.setTimeout(240_000);

const givesUp = (begin: string) => async (t: Lifetime, front: Front) => {
  const { server } = await start(t, front, { bodyTimeoutMs: 300 });
  const socket = open(t, server.port);
  let heard = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    heard += text;
  });
  socket.write(POST + begin);
  await until('it is told so', () => (heard.startsWith('HTTP/1.1 408 ') ? true : null), 5_000);
};

test('a body of which no byte comes is given up', givesUp('Content-Length: 5\r\n\r\n'));
testWithPorts(
  'a body of which no chunk comes is given up',
  givesUp('Transfer-Encoding: chunked\r\n\r\n'),
);
t.test('own front only: an extension that does not end is given up', (t) =>
  givesUp('Transfer-Encoding: chunked\r\n\r\n3;a')(t, OWN_FRONT),
);

test('the last answer of a connection comes whole to a caller who reads late', async (t, front) => {
  const { server } = await start(t, front);
  const socket = open(t, server.port);
  socket.write('GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  t.ok((await readLate(socket, 4_000)) > LARGE.length);
});

test('an answer that is still being read is not cut by the idle time', async (t, front) => {
  const { server } = await start(t, front, { idleTimeoutMs: 300 });
  const socket = open(t, server.port);
  socket.write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
  t.ok((await readLate(socket, 2_000)) > LARGE.length);
});

test('closing lets the last answers go out whole', async (t, front) => {
  const { server } = await start(t, front);
  const socket = open(t, server.port);
  socket.write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
  const [first] = await once(socket, 'data');
  const closed = server.close();
  t.ok((first as Buffer).length + (await readLate(socket, 100)) > LARGE.length);
  await closed;
});

test('who takes his answer byte by byte does not do so for ever', async (t, front) => {
  const { server } = await start(t, front, { answerTimeoutMs: 1_000 });
  const last = open(t, server.port).pause();
  last.write('GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  const next = open(t, server.port).pause();
  next.write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
  // A little at a time: something of it is taken all along.
  const reading = setInterval(() => {
    for (const socket of [last, next]) socket.read(10_000);
  }, 50);
  await sleep(3_000);
  clearInterval(reading);
  for (const socket of [last, next]) {
    // The rest in the kernels' buffers, and the end.
    await once(socket.resume(), 'close');
    t.ok(socket.bytesRead < LARGE.length, `${socket.bytesRead} bytes were read`);
  }
});

test('answers that nobody takes are bounded, over all connections', async (t, front) => {
  const lines: string[] = [];
  const metrics = new Metrics();
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  // Two answers, and not three.
  const { server } = await start(
    t,
    front,
    { unsentBytesMax: 2 * LARGE.length + 1_000_000 },
    { log },
  );
  metrics.add(server.metrics);
  const ask = 'GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
  const other = open(t, server.port, '127.0.0.2').pause();
  other.write(ask);
  const rude: Socket[] = [];
  for (let number = 0; number < 10; number += 1) {
    const socket = open(t, server.port).pause();
    rude.push(socket);
    socket.write(ask);
  }
  const metric = async (name: string) =>
    Number(new RegExp(`^tagcast_http_${name} (\\d+)$`, 'm').exec(await metrics.text())?.[1]);
  await until('all but two had to go', async () =>
    (await metric('connections_cut_off_total')) === 9 ? true : null,
  );
  t.ok((await metric('unsent_bytes')) <= 2 * LARGE.length + 1_000_000);
  t.ok((await readLate(other, 0)) > LARGE.length, 'who calls from elsewhere reads late, and all');
  t.equal(lines.length, 1, 'said once');
  t.match(lines[0], /too many bytes of answers are unread/);
  for (const socket of rude) socket.destroy();
  await until('nothing is owed', async () => ((await metric('unsent_bytes')) === 0 ? true : null));
});

t.test(
  'own front only: who is refused before his body was asked for need not send it',
  async (t) => {
    const { server } = await start(t, OWN_FRONT);
    const head =
      'POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n';
    const socket = open(t, server.port);
    socket.write(head);
    const answer = String((await once(socket, 'data'))[0]);
    t.match(answer, /^HTTP\/1\.1 404 /);
    t.match(answer, /\r\nConnection: close\r\n/, 'what comes next is no body');
  },
);

/** A TLS connection, and the one beneath it. */
async function shakeHands(
  t: Lifetime,
  front: Front,
): Promise<{ readonly raw: Socket; readonly socket: TLSSocket }> {
  const { files: tls } = await CertificateOnDisk.make(t);
  const { server } = await start(t, front, {}, { tls });
  const raw = open(t, server.port);
  const socket = connectTls({ socket: raw, rejectUnauthorized: false, maxVersion: 'TLSv1.2' });
  socket.on('error', () => undefined);
  t.teardown(() => socket.destroy());
  await once(socket, 'secureConnect');
  return { raw, socket };
}

test('a TLS caller cannot make us shake hands again and again', async (t, front) => {
  const { socket } = await shakeHands(t, front);
  socket.setMaxListeners(50);
  let shaken = 0;
  for (let times = 0; times < 10; times += 1) {
    const isDone = await new Promise<boolean>((resolve) => {
      const timeout = setTimeout(() => resolve(false), 500);
      socket.renegotiate({}, (error) => {
        clearTimeout(timeout);
        resolve(error === null);
      });
    });
    if (isDone) shaken += 1;
  }
  t.ok(shaken <= 3, `${shaken} handshakes`);
});

test('who leaves in the TLS handshake is forgotten', async (t, front) => {
  const { files: tls } = await CertificateOnDisk.make(t);
  const metrics = new Metrics();
  const { server } = await start(t, front, { headTimeoutMs: 500 }, { tls });
  metrics.add(server.metrics);
  for (let caller = 0; caller < 20; caller += 1) {
    const raw = open(t, server.port);
    const socket = connectTls({ socket: raw, rejectUnauthorized: false });
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
    // It knows the server's part then, and has not sent its own.
    socket.destroy();
  }
  await until('all have left', async () =>
    /^tagcast_http_connections 0$/m.test(await metrics.text()) ? true : null,
  );
});

t.test('own front only: a TLS handshake that does not end is given up', async (t) => {
  const { files: tls } = await CertificateOnDisk.make(t);
  const { server } = await start(t, OWN_FRONT, { headTimeoutMs: 500 }, { tls });
  const silent = open(t, server.port);
  const half = open(t, server.port);
  half.write(Buffer.from([0x16, 3, 1, 0, 200]));
  await Promise.all([silent, half].map((socket) => once(socket.resume(), 'close')));
});

test('a TLS connection that breaks is closed', async (t, front) => {
  const { raw } = await shakeHands(t, front);
  raw.write(Buffer.concat([Buffer.from([0x17, 3, 3, 0, 64]), Buffer.alloc(64, 7)]));
  await until('it is closed', () => (raw.destroyed ? true : null), 5_000);
});
