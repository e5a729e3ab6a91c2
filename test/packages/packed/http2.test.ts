import t from 'tap';
import type * as Client from '../../../packages/http2/src/client/connect.ts';
import type * as Listen from '../../../packages/http2/src/server/listen.ts';
import type * as Server from '../../../packages/http2/src/server/server-connection.ts';
import { createCertificate } from '../../../packages/simulator/src/server/certificate.ts';
import { CONNECT_OPTIONS, getOf } from '../../support/http2-client.ts';
import { installPacked } from '../../support/packed.ts';

t.test('the client asks the server', async (t) => {
  const { load } = await installPacked(t, 'http2');
  const { connect } = await load<typeof Client>('tagcast-http2/client');
  const { listen } = await load<typeof Listen>('tagcast-http2/listen');
  const { ServerConnection } = await load<typeof Server>('tagcast-http2/server');
  const certificate = await createCertificate('127.0.0.1');
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    ...certificate,
    onConnection: (socket) => {
      const server = new ServerConnection(
        socket,
        { streamsMax: 10, bodyOctetsMax: 1_000, endsApart: false },
        {
          opened: () => undefined,
          requested: (streamId, { method, path }) => {
            server.respond(streamId, { status: 200, fields: [], body: Buffer.from(method + path) });
          },
          closed: () => undefined,
        },
      );
    },
  });
  t.teardown(() => listener.close());
  const origin = `https://127.0.0.1:${listener.port}`;
  const ignore = (): void => undefined;
  const connected = await connect(
    new URL(origin),
    { ...CONNECT_OPTIONS, ca: certificate.certificatePem },
    { freed: ignore, draining: ignore, closed: ignore },
  );
  if (!connected.ok) throw new Error(connected.reason);
  const { connection } = connected;
  t.teardown(() => connection.destroy('the test is over'));
  const request = connection.prepare(getOf(origin, '/devices/'));
  const answered = new Promise((resolve, reject) => {
    connection.send(request, 'a', {
      answered: ({ status, body }) => resolve(`${status} ${body}`),
      failed: ({ reason }) => reject(new Error(reason)),
    });
  });
  t.equal(await answered, '200 GET/devices/a');
});
