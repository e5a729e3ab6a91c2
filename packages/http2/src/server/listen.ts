/** Accepts connections: over TLS with `h2` negotiated (RFC 9113, 3.2), and nothing else. */

import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

interface ListenOptions {
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  readonly certificatePem: string;
  readonly privateKeyPem: string;
  /**
   * How long a new connection waits before its handshake begins; null: it is closed. Absent: it
   * does not wait.
   */
  readonly handshakeAfterMs?: () => number | null;
  /** Called for a client that speaks HTTP/2. */
  readonly onConnection: (socket: Socket) => void;
}

interface Listener {
  readonly port: number;
  /** Ends every connection, and resolves when the port is free. */
  close(): Promise<void>;
}

export async function listen(options: ListenOptions): Promise<Listener> {
  const sockets = new Set<Socket>();
  const tls = createTlsServer({
    cert: options.certificatePem,
    key: options.privateKeyPem,
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['h2'],
  });
  tls.on('secureConnection', (socket) => {
    if (socket.alpnProtocol === 'h2') options.onConnection(socket);
    else socket.destroy();
  });
  const server = createTcpServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    const afterMs = options.handshakeAfterMs === undefined ? 0 : options.handshakeAfterMs();
    if (afterMs === null) socket.destroy();
    else if (afterMs === 0) tls.emit('connection', socket);
    else shakeHandsLater(tls, socket, afterMs);
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
        // Also connections that never finished their handshake: they would keep the server open.
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function shakeHandsLater(tls: Server, socket: Socket, afterMs: number): void {
  const onError = (): void => undefined;
  // Until TLS takes the socket over, only this handles its errors.
  socket.on('error', onError);
  setTimeout(() => {
    socket.removeListener('error', onError);
    if (!socket.destroyed) tls.emit('connection', socket);
  }, afterMs).unref();
}
