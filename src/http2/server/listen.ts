/** Accepts connections: over TLS with `h2` negotiated (RFC 9113, 3.2), and nothing else. */

import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:tls';

export interface ListenOptions {
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  readonly certificatePem: string;
  readonly privateKeyPem: string;
  /** A client that speaks HTTP/2. */
  readonly onConnection: (socket: Socket) => void;
}

export interface Listener {
  readonly port: number;
  /** Ends every connection, and resolves when the port is free. */
  close(): Promise<void>;
}

export async function listen(options: ListenOptions): Promise<Listener> {
  const sockets = new Set<Socket>();
  const server = createServer({
    cert: options.certificatePem,
    key: options.privateKeyPem,
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['h2'],
    noDelay: true,
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('secureConnection', (socket) => {
    if (socket.alpnProtocol === 'h2') options.onConnection(socket);
    else socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // Those that never finished their handshake as well: they would hold the server open.
        for (const socket of sockets) socket.destroy();
      }),
  };
}
