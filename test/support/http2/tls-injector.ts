/**
 * A TLS 1.3 server that can be made to say what its library never would (RFC 8446): a message of
 * the test's own, sealed with the key of the connection, in place of the server's next record.
 */

import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { createServer } from 'node:tls';
import type { Test } from 'tap';
import { ScriptedPeer } from './peer.ts';
import { certificate } from './tls-peer.ts';

export interface Injector {
  readonly peer: ScriptedPeer;
  /** Sends a handshake message that the server did not mean to send. */
  readonly injectHandshake: (message: Buffer) => void;
}

export interface InjectingServer {
  readonly port: number;
  readonly ca: string;
  /** The first connection whose handshake is done. */
  readonly accepted: Promise<Injector>;
}

const APPLICATION_DATA = 23;
const HANDSHAKE = 22;
const RECORD_HEAD_OCTETS = 5;
const TAG_OCTETS = 16;

export async function startInjectingServer(t: Test): Promise<InjectingServer> {
  const { key, cert } = await certificate();
  const tls = createServer({
    key,
    cert,
    ALPNProtocols: ['h2'],
    minVersion: 'TLSv1.3',
    ciphers: 'TLS_AES_128_GCM_SHA256',
  });
  let secret = Buffer.alloc(0);
  tls.on('keylog', (line: Buffer) => {
    const [label, , hex = ''] = line.toString().trim().split(' ');
    if (label === 'SERVER_TRAFFIC_SECRET_0') secret = Buffer.from(hex, 'hex');
  });
  const tcp = createTcpServer();
  const accepted = new Promise<Injector>((resolve) => {
    tcp.once('connection', (socket) => {
      const wire = new Wire(socket);
      tls.once('secureConnection', (secure: TLSSocket) => {
        secure.on('error', () => undefined);
        resolve({
          peer: new ScriptedPeer(secure, { kind: 'whole' }),
          injectHandshake: (message) => socket.write(sealed(secret, wire.written, message)),
        });
      });
      tls.on('tlsClientError', () => undefined);
      tls.emit('connection', wire);
      t.teardown(() => socket.destroy());
    });
  });
  tcp.listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  t.teardown(() => tcp.close());
  return { port: (tcp.address() as AddressInfo).port, ca: cert, accepted };
}

/** Between the TLS server and the socket: remembers what the server has written. */
class Wire extends Duplex {
  written = Buffer.alloc(0);
  readonly #socket: Socket;

  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    socket.on('data', (octets) => this.push(octets));
    socket.on('end', () => this.push(null));
    socket.on('error', () => this.destroy());
    socket.on('close', () => this.destroy());
  }

  override _read(): void {
    // The socket flows.
  }

  override _write(octets: Buffer, _: unknown, done: () => void): void {
    this.written = Buffer.concat([this.written, octets]);
    this.#socket.write(octets, () => done());
  }

  override _final(done: () => void): void {
    this.#socket.end();
    done();
  }
}

/**
 * RFC 8446, 5.2: the record that follows those in `written`, which are under the same secret from
 * some one on.
 */
function sealed(secret: Buffer, written: Buffer, message: Buffer): Buffer {
  const key = expanded(secret, 'key', 16);
  const iv = expanded(secret, 'iv', 12);
  let sequence = 0;
  for (const record of recordsOf(written)) {
    if (isSealedWith(key, nonceOf(iv, sequence), record)) sequence += 1;
  }
  const content = Buffer.concat([message, Buffer.from([HANDSHAKE])]);
  const head = Buffer.from([APPLICATION_DATA, 3, 3, 0, 0]);
  head.writeUInt16BE(content.length + TAG_OCTETS, 3);
  const cipher = createCipheriv('aes-128-gcm', key, nonceOf(iv, sequence));
  cipher.setAAD(head);
  return Buffer.concat([head, cipher.update(content), cipher.final(), cipher.getAuthTag()]);
}

function isSealedWith(key: Buffer, nonce: Buffer, record: Buffer): boolean {
  if (record[0] !== APPLICATION_DATA) return false;
  const decipher = createDecipheriv('aes-128-gcm', key, nonce);
  decipher.setAAD(record.subarray(0, RECORD_HEAD_OCTETS));
  decipher.setAuthTag(record.subarray(-TAG_OCTETS));
  decipher.update(record.subarray(RECORD_HEAD_OCTETS, -TAG_OCTETS));
  try {
    decipher.final();
    return true;
  } catch {
    return false;
  }
}

function* recordsOf(octets: Buffer): Generator<Buffer> {
  for (let at = 0; at < octets.length; ) {
    const end = at + RECORD_HEAD_OCTETS + octets.readUInt16BE(at + 3);
    yield octets.subarray(at, end);
    at = end;
  }
}

/** 5.3 */
function nonceOf(iv: Buffer, sequence: number): Buffer {
  const nonce = Buffer.from(iv);
  const last = nonce.length - 1;
  nonce.writeUInt8(nonce.readUInt8(last) ^ sequence, last);
  return nonce;
}

/** 7.1: HKDF-Expand-Label without context, for no more than one hash. */
function expanded(secret: Buffer, label: string, octets: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`);
  const info = Buffer.concat([
    Buffer.from([0, octets, name.length]),
    name,
    Buffer.from([0]),
    Buffer.from([1]),
  ]);
  return createHmac('sha256', secret).update(info).digest().subarray(0, octets);
}
