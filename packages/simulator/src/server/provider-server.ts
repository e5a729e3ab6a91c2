/**
 * The wire under a simulated provider: TLS and HTTP/2 on our own framing, with connections that
 * play the behaviour. It knows no provider: any handler is served.
 */

import { listen } from '../../../http2/src/server/listen.ts';
import type { LiveBehaviour } from '../options.ts';
import type { Certificate } from './certificate.ts';
import { DistantSocket } from './distant-socket.ts';
import type { ConnectionOptions } from './provider-connection.ts';
import { ProviderConnection } from './provider-connection.ts';

interface ProviderServerOptions extends ConnectionOptions {
  readonly host: string;
  readonly port: number;
  readonly certificate: Certificate;
  readonly live: LiveBehaviour;
  readonly onConnection: () => void;
}

export interface ProviderServer {
  readonly port: number;
  /** Applies the present behaviour to open connections. */
  applyBehaviour(): void;
  /** Numbers connections from 1 again, for draws by their number. */
  countAnew(): void;
  /** Closes open connections. */
  cutConnections(): void;
  close(): Promise<void>;
}

export async function startProviderServer(options: ProviderServerOptions): Promise<ProviderServer> {
  const { certificate, live } = options;
  const connections = new Set<ProviderConnection>();
  let connectionsOpened = 0;
  const listener = await listen({
    host: options.host,
    port: options.port,
    certificatePem: certificate.certificatePem,
    privateKeyPem: certificate.privateKeyPem,
    // The handshakes of TCP and TLS take a round trip each.
    handshakeAfterMs: () => (live.outage === 'closed' ? null : 2 * live.current.roundTripMs),
    onConnection: (socket) => {
      const { current, outage } = live;
      // Its handshake began before the outage.
      if (outage === 'closed') {
        socket.destroy();
        return;
      }
      const { roundTripMs } = current;
      const wire = roundTripMs === 0 ? socket : new DistantSocket(socket, roundTripMs);
      connectionsOpened += 1;
      const connection = new ProviderConnection(wire, connectionsOpened, current, options, () =>
        connections.delete(connection),
      );
      connections.add(connection);
      options.onConnection();
    },
  });
  return {
    port: listener.port,
    applyBehaviour: () => {
      for (const connection of connections) connection.applyBehaviour(live.current);
    },
    countAnew: () => {
      connectionsOpened = 0;
    },
    cutConnections: () => {
      for (const connection of connections) connection.cut();
    },
    close: () => listener.close(),
  };
}
