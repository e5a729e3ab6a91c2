/** A wire that a test can cut without either end hearing of it: as a machine that loses its power, or a firewall that forgets. */

import type { Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import type { Lifetime } from './lifetime.ts';

export interface TcpProxy {
  readonly port: number;
  /** From now on nothing goes through the connections that there are. */
  silence(): void;
  /** Nor through those that come. */
  silenceAll(): void;
}

/** Passes everything on to a loopback port, from a free one. */
export async function startTcpProxy(t: Lifetime, targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isSilent = false;
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    keep(near);
    if (isSilent) return;
    const far = connect(targetPort, '127.0.0.1');
    keep(far);
    near.pipe(far);
    far.pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const silence = (): void => {
    for (const socket of sockets) {
      socket.unpipe();
      socket.pause();
    }
  };
  return {
    port: (server.address() as { readonly port: number }).port,
    silence,
    silenceAll() {
      isSilent = true;
      silence();
    },
  };
}
