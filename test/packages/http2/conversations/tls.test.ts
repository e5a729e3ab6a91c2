/** RFC 9113, 3.2 and 9.2: what TLS has to be like, shown on real sockets. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import type { Test } from 'tap';
import t from 'tap';
import type { ClientConnection } from '../../../../packages/http2/src/client/client-connection.ts';
import type { Connected } from '../../../../packages/http2/src/client/connect.ts';
import { connect } from '../../../../packages/http2/src/client/connect.ts';
import { closeWith } from '../../../support/close-with.ts';
import { skipsForbidden } from '../../../support/environment.ts';
import {
  END_HEADERS,
  END_STREAM,
  headersOf,
  octetsOf,
  settings,
  settingsAck,
} from '../../../support/http2/frames.ts';
import type { ScriptedPeer } from '../../../support/http2/peer.ts';
import { GET } from '../../../support/http2/recorded-client.ts';
import { startInjectingServer } from '../../../support/http2/tls-injector.ts';
import { certificate, connectOptions, startTlsPeer } from '../../../support/http2/tls-peer.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const SPEAKS_H2 = { ALPNProtocols: ['h2'] };

void t.test('TLS: ALPN h2 is offered, alone, and the negotiated value is checked', async (t) => {
  const server = await startTlsPeer(t, SPEAKS_H2);
  const { socket, connection } = await begin(t, server, 'localhost');
  t.equal(socket.alpnProtocol, 'h2');
  t.ok(['TLSv1.2', 'TLSv1.3'].includes(socket.getProtocol() ?? ''));
  t.equal(await statusOf(connection, socket), 200);
});

void t.test('TLS: a server without ALPN is refused with a clear reason', async (t) => {
  const server = await startTlsPeer(t, {});
  const reason = 'the peer does not speak HTTP/2';
  t.same(await attempt(server.port, server.ca), { ok: false, reason });
});

void t.test('TLS: a server that speaks HTTP/1.1 only is refused with a clear reason', async (t) => {
  const server = await startTlsPeer(t, { ALPNProtocols: ['http/1.1'] });
  const connected = await attempt(server.port, server.ca);
  t.match(connected, { ok: false, reason: /NO_APPLICATION_PROTOCOL/ });
});

void t.test('TLS: >= 1.2: a TLS 1.1 server is refused', async (t) => {
  const server = await startTlsPeer(t, {
    ...SPEAKS_H2,
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  });
  t.match(await attempt(server.port, server.ca), { ok: false, reason: /PROTOCOL_VERSION/ });
});

void t.test('TLS: 1.2 is taken', async (t) => {
  const server = await startTlsPeer(t, { ...SPEAKS_H2, maxVersion: 'TLSv1.2' });
  const { socket, connection } = await begin(t, server, 'localhost');
  t.equal(socket.getProtocol(), 'TLSv1.2');
  t.equal(await statusOf(connection, socket), 200);
});

void t.test('TLS: SNI is sent for names and not for addresses', async (t) => {
  const server = await startTlsPeer(t, SPEAKS_H2);
  const named = await begin(t, server, 'localhost');
  t.equal(named.socket.servername, 'localhost');
  const addressed = await begin(t, server, '127.0.0.1');
  t.notOk(addressed.socket.servername);
});

void t.test('TLS: an authority that nobody has named is refused', async (t) => {
  const server = await startTlsPeer(t, SPEAKS_H2);
  t.match(await attempt(server.port, null), { ok: false, reason: /SELF_SIGNED|UNABLE_TO_VERIFY/ });
});

void t.test(
  'TLS: no renegotiation: one that the server asks for ends the connection',
  async (t) => {
    const server = await startTlsPeer(t, { ...SPEAKS_H2, maxVersion: 'TLSv1.2' });
    const { socket, connection, closed } = await begin(t, server, 'localhost');
    const failed = failureOf(connection);
    let isRenegotiated = false;
    socket.renegotiate({ requestCert: true }, (error) => {
      isRenegotiated = error === null;
    });
    t.match(await failed, { isUnprocessed: false });
    t.match(await closed, /HANDSHAKE_FAILURE|ECONNRESET|closed/);
    t.equal(isRenegotiated, false);
  },
);

void t.test('TLS: TLS1.3 post-handshake auth request = connection error', async (t) => {
  const server = await startInjectingServer(t);
  const connecting = attempt(server.port, server.ca);
  const { peer, injectHandshake } = await server.accepted;
  const { connection, closed } = await greeted(peer, connecting);
  t.teardown(() => connection.destroy('the test is over'));
  const failed = failureOf(connection);
  // CertificateRequest with a context of one octet and signature_algorithms.
  injectHandshake(
    Buffer.from('0d00000d 01aa 000a 000d 0006 0004 0403 0804'.replaceAll(' ', ''), 'hex'),
  );
  t.match(await failed, { isUnprocessed: false, reason: /UNEXPECTED_MESSAGE/ });
  t.match(await closed, /UNEXPECTED_MESSAGE/);
});

void t.test('TLS: post-handshake authentication is not offered', async (t) => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closeWith(t, server);
  const connecting = attempt((server.address() as AddressInfo).port, null);
  const [socket] = await once(server, 'connection');
  const [hello] = await once(socket, 'data');
  socket.destroy();
  t.match(await connecting, { ok: false });
  const types = extensionTypes(hello);
  t.ok(types.includes(EXTENSION.alpn));
  t.notOk(types.includes(EXTENSION.postHandshakeAuth));
});

const OPENSSL_MISSING = 'no openssl command';

void t.test('TLS: openssl asks for a certificate after the handshake, in vain', async (t) => {
  const openssl = await startOpenssl(t);
  if (openssl === null) {
    if (skipsForbidden) t.fail(OPENSSL_MISSING);
    else t.comment(OPENSSL_MISSING);
    return;
  }
  const connecting = attempt(openssl.port, openssl.ca);
  openssl.say(Buffer.concat([octetsOf(settings()), octetsOf(settingsAck)]));
  const connected = await connecting;
  if (!connected.ok) throw new Error(connected.reason);
  t.teardown(() => connected.connection.destroy('the test is over'));
  openssl.say(Buffer.from('c\n'));
  await openssl.hears('extension not received');
  const status = answerTo(connected.connection);
  openssl.say(octetsOf(headersOf(1, Buffer.from([0x88]), END_HEADERS | END_STREAM)));
  t.equal(await status, 200, 'and the connection goes on');
});

/** The reason of its end, when it comes. */
const closings = new WeakMap<Promise<Connected>, Promise<string>>();

function attempt(port: number, ca: string | null, host = 'localhost'): Promise<Connected> {
  let closed: (reason: string) => void = () => undefined;
  const closing = new Promise<string>((resolve) => {
    closed = resolve;
  });
  const origin = new URL(`https://${host}:${port}`);
  const events = { freed: () => undefined, draining: () => undefined, closed };
  const connecting = connect(origin, connectOptions(ca), events);
  closings.set(connecting, closing);
  return connecting;
}

interface Begun {
  readonly connection: ClientConnection;
  readonly closed: Promise<string>;
}

/** A connection to the peer, with both prefaces said. */
async function begin(
  t: Test,
  server: Awaited<ReturnType<typeof startTlsPeer>>,
  host: string,
): Promise<Begun & { readonly socket: TLSSocket; readonly peer: ScriptedPeer }> {
  const connecting = attempt(server.port, server.ca, host);
  const { socket, peer } = await server.accept();
  const begun = await greeted(peer, connecting);
  t.teardown(() => begun.connection.destroy('the test is over'));
  peers.set(socket, peer);
  return { ...begun, socket, peer };
}

const peers = new WeakMap<TLSSocket, ScriptedPeer>();

async function greeted(peer: ScriptedPeer, connecting: Promise<Connected>): Promise<Begun> {
  await peer.greet();
  const connected = await connecting;
  if (!connected.ok) throw new Error(connected.reason);
  const closed = closings.get(connecting) ?? Promise.reject(new Error('unknown'));
  return { connection: connected.connection, closed };
}

async function statusOf(connection: ClientConnection, socket: TLSSocket): Promise<number> {
  const status = answerTo(connection);
  const peer = peers.get(socket);
  const request = await peer?.expectRequest();
  const streamId = request?.streamId ?? 0;
  peer?.send(headersOf(streamId, Buffer.from([0x88]), END_HEADERS | END_STREAM));
  return status;
}

const answerTo = (connection: ClientConnection): Promise<number> =>
  new Promise((resolve, reject) => {
    connection.send(connection.prepare(GET), 'a', {
      answered: ({ status }) => resolve(status),
      failed: ({ reason }) => reject(new Error(reason)),
    });
  });

const failureOf = (connection: ClientConnection): Promise<unknown> =>
  new Promise((resolve, reject) => {
    connection.send(connection.prepare(GET), 'a', {
      answered: () => reject(new Error('answered')),
      failed: resolve,
    });
  });

const EXTENSION = { alpn: 16, postHandshakeAuth: 49 };

/** The types of the extensions of a ClientHello in its record (RFC 8446, 4.1.2). */
function extensionTypes(record: Buffer): readonly number[] {
  let at = 5 + 4 + 2 + 32;
  at += 1 + record.readUInt8(at);
  at += 2 + record.readUInt16BE(at);
  at += 1 + record.readUInt8(at);
  const end = at + 2 + record.readUInt16BE(at);
  const types = [];
  for (at += 2; at < end; at += 4 + record.readUInt16BE(at + 2))
    types.push(record.readUInt16BE(at));
  return types;
}

interface Openssl {
  readonly port: number;
  readonly ca: string;
  readonly say: (octets: Buffer) => void;
  readonly hears: (words: string) => Promise<void>;
}

/**
 * `openssl s_server`, which sends what it reads and takes a line that begins with certain letters
 * for a command.
 */
async function startOpenssl(t: Test): Promise<Openssl | null> {
  const { key, cert } = await certificate();
  const directory = temporaryDirectory(t);
  writeFileSync(join(directory, 'key.pem'), key);
  writeFileSync(join(directory, 'cert.pem'), cert);
  const options = '-accept 127.0.0.1:0 -naccept 1 -tls1_3 -alpn h2 -key key.pem -cert cert.pem';
  const child = spawn('openssl', ['s_server', ...options.split(' ')], {
    cwd: directory,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let heard = '';
  let wake: () => void = () => undefined;
  const hear = (chunk: Buffer): void => {
    heard += chunk.toString('latin1');
    wake();
  };
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  child.stdin.on('error', () => undefined);
  let isGone = false;
  const gone = (): void => {
    isGone = true;
    wake();
  };
  child.once('error', gone);
  child.once('exit', gone);
  t.teardown(() => child.kill());
  const hears = async (words: RegExp | string): Promise<void> => {
    while (heard.search(words) === -1) {
      if (isGone) throw new Error(`openssl has gone: ${heard}`);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  try {
    await hears(ACCEPTING);
  } catch (error) {
    if (child.pid === undefined) return null;
    throw error;
  }
  const port = Number(ACCEPTING.exec(heard)?.[1]);
  return { port, ca: cert, say: (octets) => child.stdin.write(octets), hears };
}

const ACCEPTING = /ACCEPT \S*:(\d+)/;
