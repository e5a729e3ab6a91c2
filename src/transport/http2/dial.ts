/** Opens one connection with our own framing. */

import { connect } from '../../../packages/http2/src/client/connect.ts';
import type { ConnectionEvents, Dialled, DialOptions } from '../provider-connection.ts';
import { NO_STREAM } from '../provider-connection.ts';
import { Connection } from './connection.ts';

export async function dial(options: DialOptions, events: ConnectionEvents): Promise<Dialled> {
  const { origin, address, ca, limits, signal } = options;
  let connection: Connection | null = null;
  const connected = await connect(
    new URL(origin),
    { ...limits, bodyOctetsMax: limits.bodyBytesMax, address, ca, signal },
    {
      freed: () => connection?.freed(),
      draining: (reason, code) => connection?.draining(reason, code),
      closed: (reason) => connection?.closed(reason),
    },
  );
  if (!connected.ok) return connected;
  if (connected.connection.capacity === 0) {
    connected.connection.destroy(NO_STREAM);
    return { ok: false, reason: NO_STREAM };
  }
  connection = new Connection(connected.connection, new URL(origin).host, events);
  return { ok: true, connection };
}
