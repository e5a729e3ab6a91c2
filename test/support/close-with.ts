/** Servers of a test's own: none of their connections outlives it. */

import type { Server, Socket } from 'node:net';
import type { Lifetime } from './lifetime.ts';

/** Closes a server with the test, and ends the connections that it has. */
export function closeWith(t: Lifetime, server: Server): void {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  t.teardown(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
}
