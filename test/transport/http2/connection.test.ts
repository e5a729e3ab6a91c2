/** Our connection seen by a server that reports how each field was written. */

import type { Test } from 'tap';
import t from 'tap';
import type { Indexing } from '../../../packages/http2/src/hpack/field.ts';
import { listen } from '../../../packages/http2/src/server/listen.ts';
import { ServerConnection } from '../../../packages/http2/src/server/server-connection.ts';
import { createCertificate } from '../../../packages/simulator/src/server/certificate.ts';
import { APNS_LIMITS } from '../../../src/providers/apns/settings.ts';
import { dial } from '../../../src/transport/http2/dial.ts';
import type { ProviderConnection } from '../../../src/transport/provider-connection.ts';
import type { RequestTemplate } from '../../../src/transport/transport.ts';

interface Received {
  readonly path: string;
  readonly body: string;
  readonly authorization: string | undefined;
  readonly indexing: Readonly<Record<string, Indexing>>;
}

const template = (collapseId: string): RequestTemplate => ({
  tokenIn: 'path',
  pathBefore: '/3/device/',
  bodyBefore: Buffer.from(`{"of":"${collapseId}"}`),
  bodyAfter: Buffer.alloc(0),
  lastingFields: { 'apns-topic': 'com.example.news' },
  messageFields: { 'apns-collapse-id': collapseId },
  payloadBytes: 0,
});

async function connectTo(t: Test) {
  const certificate = await createCertificate('127.0.0.1');
  const received: Received[] = [];
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
          requested: (id, { path, fields }, body) => {
            received.push({
              path,
              body: body.toString(),
              authorization: fields.find(({ name }) => name === 'authorization')?.value,
              indexing: Object.fromEntries(fields.map(({ name, indexing }) => [name, indexing])),
            });
            server.respond(id, { status: 200, fields: [], body: Buffer.alloc(0) });
          },
          closed: () => undefined,
        },
      );
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
    { freed: () => undefined, retired: () => undefined, gone: () => undefined },
  );
  if (!dialled.ok) throw new Error(dialled.reason);
  const { connection } = dialled;
  t.teardown(() => connection.destroy('end of the test'));
  return { connection, received };
}

const push = (
  connection: ProviderConnection,
  of: RequestTemplate,
  token: string,
  authorization = 'bearer x',
): Promise<number> =>
  new Promise((resolve, reject) =>
    connection.start(
      {
        template: of,
        token,
        answered: ({ status }) => resolve(status),
        failed: ({ reason }) => reject(new Error(reason)),
      },
      authorization,
    ),
  );

t.test('what lasts goes into the table, what is of one message does not', async (t) => {
  const { connection, received } = await connectTo(t);
  for (const collapseId of ['one', 'one', 'two', 'two']) {
    t.equal(await push(connection, template(collapseId), 'ab'), 200);
  }
  for (const { indexing } of received) {
    t.same(indexing, {
      authorization: 'incremental',
      'apns-topic': 'incremental',
      'apns-collapse-id': 'without',
    });
  }
});

t.test('many messages in turns, and a new authorization between them', async (t) => {
  const { connection, received } = await connectTo(t);
  const templates = Array.from({ length: 150 }, (_, number) => template(`message-${number}`));
  for (const authorization of ['bearer first', 'bearer second']) {
    for (const [number, of] of templates.entries()) {
      await push(connection, of, 'aa', authorization);
      // Interleaved with one before it, as tasks of a thread are.
      await push(connection, templates[number >> 1] ?? of, 'bb', authorization);
    }
  }
  t.equal(received.length, 600);
  for (const [index, { path, body, authorization }] of received.entries()) {
    const number = (index % 300) >> 1;
    const isOther = index % 2 === 1;
    t.equal(path, isOther ? '/3/device/bb' : '/3/device/aa');
    t.equal(body, `{"of":"message-${isOther ? number >> 1 : number}"}`);
    t.equal(authorization, index < 300 ? 'bearer first' : 'bearer second');
  }
});

t.test('a connection that was retired takes no more', async (t) => {
  const { connection } = await connectTo(t);
  t.equal(connection.free, 10);
  const last = push(connection, template('one'), 'ab');
  t.equal(connection.free, 9);
  connection.retire();
  t.equal(connection.free, 0);
  t.equal(await last, 200);
});
