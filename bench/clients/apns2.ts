/** `apns2`, which sends through undici. */

import { ALERT } from '../push.ts';
import { originOf } from '../sinks/sink.ts';
import { IN_FLIGHT } from './client.ts';
import { inProcess } from './in-process.ts';
import { loadPeer } from './peer.ts';

interface Apns2 {
  readonly ApnsClient: new (
    options: object,
  ) => {
    client: Pool;
    send(notification: object): Promise<unknown>;
    destroy(): Promise<void>;
  };
  readonly Notification: new (token: string, options: object) => object;
}

interface Pool {
  close(): Promise<void>;
}

interface Undici {
  readonly Pool: new (origin: string, options: object) => Pool;
}

export const apns2 = inProcess('apns2', async (sink, settled) => {
  const { ApnsClient, Notification } = loadPeer('apns2') as Apns2;
  const { privateKey: signingKey, keyId, teamId: team, bundleId: defaultTopic } = sink.credential;
  const client = new ApnsClient({ team, keyId, signingKey, defaultTopic, host: sink.host });
  // Its own pool has 32 connections with one request each, can only go to port 443, and trusts no
  // other roots. With one connection for all, as the others have it, it is nearly twice as fast.
  const { Pool } = loadPeer('undici', 'apns2') as Undici;
  await client.client.close();
  client.client = new Pool(originOf(sink), {
    connections: 1,
    pipelining: IN_FLIGHT,
    maxConcurrentStreams: IN_FLIGHT,
    allowH2: true,
    connect: { ca: sink.ca },
  });
  return {
    push: (token, position) => {
      client.send(new Notification(token, { alert: ALERT })).then(
        () => settled(position),
        (error: unknown) => settled(position, error),
      );
    },
    close: () => client.destroy(),
  };
});
