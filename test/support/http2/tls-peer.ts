/** A scripted peer with TLS on a real socket, for effects that only a handshake shows. */

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { createServer } from 'node:tls';
import { generate } from 'selfsigned';
import type { Test } from 'tap';
import type { ConnectOptions } from '../../../packages/http2/src/client/connect.ts';
import { ScriptedPeer } from './peer.ts';

export interface TlsPeer {
  readonly port: number;
  readonly ca: string;
  /** The next connection whose handshake is done. */
  readonly accept: () => Promise<{ readonly socket: TLSSocket; readonly peer: ScriptedPeer }>;
}

/** Closed when the test has ended. */
export async function startTlsPeer(t: Test, options: TlsOptions): Promise<TlsPeer> {
  const { key, cert } = await certificate();
  const server = createServer({ key, cert, ...options });
  const sockets: TLSSocket[] = [];
  let wake: () => void = () => undefined;
  server.on('secureConnection', (socket) => {
    socket.on('error', () => undefined);
    sockets.push(socket);
    wake();
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted: TLSSocket[] = [];
  t.teardown(() => {
    for (const socket of accepted) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    ca: cert,
    accept: async () => {
      for (;;) {
        const socket = sockets.shift();
        if (socket !== undefined) {
          accepted.push(socket);
          return { socket, peer: new ScriptedPeer(socket, { kind: 'whole' }) };
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

/** A certificate of `localhost` and 127.0.0.1. */
export async function certificate(): Promise<{ readonly key: string; readonly cert: string }> {
  made ??= generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  });
  const { private: key, cert } = await made;
  return { key, cert };
}

let made: ReturnType<typeof generate> | null = null;

export const connectOptions = (ca: string | null): ConnectOptions => ({
  ca,
  connectTimeoutMs: 20_000,
  streamsMax: 10,
  requestTimeoutMs: 20_000,
  bodyOctetsMax: 1_000,
  pingAfterSilenceMs: 600_000,
  pingTimeoutMs: 600_000,
  pingsInARowMax: 1,
});
