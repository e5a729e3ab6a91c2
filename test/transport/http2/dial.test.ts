/**
 * Connections that never come to be of use: each is a reason in words, and nothing is left open.
 */

import type { Test } from 'tap';
import t from 'tap';
import { ErrorCode } from '../../../packages/http2/src/error.ts';
import { listen } from '../../../packages/http2/src/server/listen.ts';
import { ServerConnection } from '../../../packages/http2/src/server/server-connection.ts';
import { createCertificate } from '../../../packages/simulator/src/server/certificate.ts';
import { APNS_LIMITS } from '../../../src/providers/apns/settings.ts';
import { dial } from '../../../src/transport/http2/dial.ts';
import type { Dialled } from '../../../src/transport/provider-connection.ts';

/**
 * Dials a server that does this as soon as it has spoken, and answers when the connection is closed
 * on both sides.
 */
async function dialTo(
  t: Test,
  streamsMax: number,
  greet: (server: ServerConnection) => void,
): Promise<Dialled> {
  const certificate = await createCertificate('127.0.0.1');
  const closings: Promise<void>[] = [];
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    ...certificate,
    onConnection: (socket) => {
      closings.push(new Promise((resolve) => socket.once('close', () => resolve())));
      const options = { streamsMax, bodyOctetsMax: 1_000, endsApart: false };
      const events = {
        opened: () => undefined,
        requested: () => undefined,
        closed: () => undefined,
      };
      greet(new ServerConnection(socket, options, events));
    },
  });
  t.teardown(() => listener.close());
  const dialled = await dial(
    {
      origin: `https://127.0.0.1:${listener.port}`,
      address: '127.0.0.1',
      ca: certificate.certificatePem,
      limits: APNS_LIMITS,
      signal: new AbortController().signal,
    },
    {
      freed: () => t.fail('there is no connection'),
      retired: () => t.fail('there is no connection'),
      gone: () => t.fail('there is no connection'),
    },
  );
  await Promise.all(closings);
  return dialled;
}

t.test('a provider that allows no stream', async (t) => {
  const dialled = await dialTo(t, 0, () => undefined);
  t.same(dialled, { ok: false, reason: 'the provider allows no stream' });
});

t.test('a provider that says goodbye at once says why', async (t) => {
  const dialled = await dialTo(t, 10, (server) =>
    server.sendGoAway(0, ErrorCode.NO_ERROR, '{"reason":"BadCertificate"}'),
  );
  t.same(dialled, { ok: false, reason: 'GOAWAY NO_ERROR {"reason":"BadCertificate"}' });
});
