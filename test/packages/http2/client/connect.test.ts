/**
 * How connecting ends: with a connection to a peer that speaks HTTP/2 and is trusted, or with the
 * reason why there is none.
 */

import { once } from 'node:events';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { createServer, Socket } from 'node:net';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { createServer as createTlsServer } from 'node:tls';
import { generate } from 'selfsigned';
import type { Test } from 'tap';
import t from 'tap';
import type { Connected, ConnectOptions } from '../../../../packages/http2/src/client/connect.ts';
import { connect } from '../../../../packages/http2/src/client/connect.ts';
import { goAwayFrame } from '../../../../packages/http2/src/frame/go-away.ts';
import { settingsFrame } from '../../../../packages/http2/src/frame/settings.ts';
import { createCertificate } from '../../../../packages/simulator/src/server/certificate.ts';
import { closeWith } from '../../../support/close-with.ts';
import { CONNECT_OPTIONS } from '../../../support/http2-client.ts';
import { startNodeServer } from '../../../support/http2-servers/node-server.ts';
import { freePorts } from '../../../support/programs.ts';

t.test('a connection is ready to be used, its socket without delay', async (t) => {
  const certificate = await createCertificate('127.0.0.1');
  const ca = certificate.certificatePem;
  const greet = (socket: Socket): boolean => socket.write(settingsFrame([]));
  const cleartext = await listen(t, createServer(greet));
  const tls = tlsServer(certificate, { ALPNProtocols: ['h2'] });
  tls.on('secureConnection', greet);
  const { port } = await listen(t, tls);
  for (const origin of [`http://127.0.0.1:${cleartext.port}`, `https://127.0.0.1:${port}`]) {
    const calls = t.capture(Socket.prototype, 'setNoDelay', Socket.prototype.setNoDelay);
    const connected = await tryConnect(t, origin, { ca });
    t.match(connected, { ok: true, connection: { isReady: true, isClosed: false } });
    t.same(
      calls().map(({ args }) => args),
      [[true]],
    );
    calls.restore();
  }
});

t.test('nobody listens', async (t) => {
  const [port] = await freePorts(1);
  for (const scheme of ['http', 'https']) {
    const connected = await tryConnect(t, `${scheme}://127.0.0.1:${port}`);
    t.same(connected, { ok: false, reason: 'ECONNREFUSED' });
  }
});

t.test('a peer that says nothing is left after the time-out', async (t) => {
  const certificate = await createCertificate('127.0.0.1');
  const silentTcp = await listen(t, createServer());
  const silentTls = await listen(t, tlsServer(certificate, { ALPNProtocols: ['h2'] }));
  for (const [origin, server] of [
    [`http://127.0.0.1:${silentTcp.port}`, silentTcp.server],
    [`https://127.0.0.1:${silentTcp.port}`, silentTcp.server],
    [`https://127.0.0.1:${silentTls.port}`, silentTls.server],
  ] as const) {
    const closed = socketClosed(server);
    const connected = await tryConnect(t, origin, { isInsecure: true, connectTimeoutMs: 200 });
    t.same(connected, { ok: false, reason: 'connection time-out' }, origin);
    await closed;
  }
});

t.test('an abort ends it, at any time', async (t) => {
  const silent = await listen(t, createServer());
  for (const scheme of ['http', 'https']) {
    const origin = `${scheme}://127.0.0.1:${silent.port}`;
    const abort = new AbortController();
    const accepted = once(silent.server, 'connection');
    const closed = socketClosed(silent.server);
    const connecting = tryConnect(t, origin, { signal: abort.signal });
    await accepted;
    abort.abort();
    t.same(await connecting, { ok: false, reason: 'closed while connecting' });
    await closed;
    const tooLate = await tryConnect(t, origin, { signal: abort.signal });
    t.same(tooLate, { ok: false, reason: 'closed while connecting' });
  }
  const { cleartextOrigin } = await startNodeServer(t);
  const abort = new AbortController();
  const connected = await tryConnect(t, cleartextOrigin, { signal: abort.signal });
  abort.abort();
  t.match(connected, { ok: true, connection: { isClosed: false } }, 'afterwards it means nothing');
});

t.test('whom nobody vouches for is not believed', async (t) => {
  const { origin, ca } = await startNodeServer(t);
  t.same(await tryConnect(t, origin), { ok: false, reason: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  t.match(await tryConnect(t, origin, { isInsecure: true }), { ok: true });

  const made = await generate([{ name: 'commonName', value: 'elsewhere.test' }], {
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'elsewhere.test' }] }],
  });
  const certificate = { certificatePem: made.cert, privateKeyPem: made.private };
  const other = await listen(t, tlsServer(certificate, { ALPNProtocols: ['h2'] }));
  const connected = await tryConnect(t, `https://127.0.0.1:${other.port}`, { ca: made.cert });
  t.same(connected, { ok: false, reason: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  t.match(await tryConnect(t, origin, { ca }), { ok: true }, 'another authority, the next time');
});

t.test('over TLS nothing but h2 is spoken', async (t) => {
  const certificate = await createCertificate('127.0.0.1');
  const ca = certificate.certificatePem;
  const older = await listen(t, tlsServer(certificate, { ALPNProtocols: ['http/1.1'] }));
  t.same(await tryConnect(t, `https://127.0.0.1:${older.port}`, { ca }), {
    ok: false,
    reason: 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL',
  });
  const oldest = await listen(t, tlsServer(certificate, {}));
  t.same(await tryConnect(t, `https://127.0.0.1:${oldest.port}`, { ca }), {
    ok: false,
    reason: 'the peer does not speak HTTP/2',
  });
});

t.test('what a peer says instead of SETTINGS is the reason', async (t) => {
  const goAway = goAwayFrame({ lastStreamId: 0, code: 0xb, debugData: Buffer.from('too many') });
  for (const [said, reason] of [
    [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), /FRAME_SIZE_ERROR/],
    [goAway, /PROTOCOL_ERROR: the first frame is not SETTINGS/],
    [Buffer.concat([settingsFrame([]), goAway]), /^GOAWAY ENHANCE_YOUR_CALM too many$/],
    [null, /^connection closed by the peer$/],
  ] as const) {
    const peer = await listen(
      t,
      createServer((socket) => {
        if (said === null) socket.end();
        else socket.write(said);
      }),
    );
    const connected = await tryConnect(t, `http://127.0.0.1:${peer.port}`);
    t.match(connected, { ok: false, reason });
  }
});

t.test('a name goes with the handshake, an address does not', async (t) => {
  const certificate = await createCertificate('127.0.0.1');
  const server = tlsServer(certificate, { ALPNProtocols: ['h2'] });
  const names: (string | false | null | undefined)[] = [];
  server.on('secureConnection', (socket: TLSSocket) => {
    names.push(socket.servername);
    socket.write(settingsFrame([]));
  });
  const { port } = await listen(t, server, 'localhost');
  const options = { ca: certificate.certificatePem };
  t.match(await tryConnect(t, `https://localhost:${port}`, options), { ok: true });
  const { address, family } = server.address() as AddressInfo;
  const host = family === 'IPv6' ? `[${address}]` : address;
  t.match(await tryConnect(t, `https://${host}:${port}`, options), { ok: true });
  t.same(names, ['localhost', false]);
});

t.test('an IPv6 address in brackets', async (t) => {
  const server = createHttp2Server();
  const listening = await Promise.race([
    once(server.listen(0, '::1'), 'listening'),
    new Promise<null>((resolve) => server.once('error', () => resolve(null))),
  ]);
  if (listening === null) return t.comment('this machine has no IPv6');
  closeWith(t, server);
  const { port } = server.address() as AddressInfo;
  t.match(await tryConnect(t, `http://[::1]:${port}`), { ok: true });
});

/** One attempt; what comes of it lasts as long as the test. */
async function tryConnect(
  t: Test,
  origin: string,
  options: Partial<ConnectOptions> = {},
): Promise<Connected> {
  const events = { freed: ignore, draining: ignore, closed: ignore };
  const connected = await connect(new URL(origin), { ...CONNECT_OPTIONS, ...options }, events);
  if (connected.ok) t.teardown(() => connected.connection.destroy('the test is over'));
  return connected;
}

/** Listens on a free port; its sockets end with the test. */
async function listen(t: Test, server: Server, host = '127.0.0.1') {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', ignore);
    // Or it never sees the end.
    socket.on('data', ignore);
  });
  await once(server.listen(0, host), 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { server, port: (server.address() as AddressInfo).port };
}

function tlsServer(
  { certificatePem, privateKeyPem }: Awaited<ReturnType<typeof createCertificate>>,
  options: TlsOptions,
) {
  const server = createTlsServer({ cert: certificatePem, key: privateKeyPem, ...options });
  server.on('secureConnection', (socket) => socket.on('error', ignore).resume());
  return server;
}

/** Resolves when the next socket that the server accepts has closed again. */
const socketClosed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.once('connection', (socket: Socket) => socket.once('close', () => resolve()));
  });

function ignore(): void {
  // The peer's behaviour after the answer to connect() is of no interest.
}
