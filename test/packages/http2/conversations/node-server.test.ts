/** Our client and node:http2, which can be asked to change its mind. */

import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect as connectTcp, createServer } from 'node:net';
import type { Test } from 'tap';
import t from 'tap';
import type { Answer } from '../../../support/http2-client.ts';
import { getOf, openClient, postOf } from '../../../support/http2-client.ts';
import {
  answered,
  askUntilProcessed,
  bodyOf,
  demand,
  isSmallFile,
  times,
} from '../../../support/http2-servers/ask.ts';
import {
  GOAWAY_PATH,
  INFORMATIONAL_PATH,
  MANY_FIELDS,
  MANY_FIELDS_PATH,
  NO_CONTENT_PATH,
  PING_PATH,
  REFUSED_PATH,
  RESET_PATH,
  SILENCE_PATH,
  startNodeServer,
  TRAILERS_PATH,
} from '../../../support/http2-servers/node-server.ts';
import { ECHO_PATH, SMALL_BODY, SMALL_PATH } from '../../../support/http2-servers/site.ts';

t.test('node:http2: what else an answer may be', async (t) => {
  const { origin, cleartextOrigin, ca } = await startNodeServer(t);
  for (const from of [origin, cleartextOrigin]) {
    const client = await openClient(t, from, { ca });
    const get = (path: string): Promise<Answer> => client.ask(client.prepare(getOf(from, path)));
    const trailers = answered(await get(TRAILERS_PATH));
    t.match(trailers.trailers, [{ name: 'x-trailer', value: 'the end' }]);
    t.equal(trailers.body.toString(), SMALL_BODY);
    const informed = answered(await get(INFORMATIONAL_PATH));
    t.same([informed.status, informed.body.toString()], [200, SMALL_BODY]);
    t.notMatch(informed.fields, [{ name: 'link' }]);
    const none = answered(await get(NO_CONTENT_PATH));
    t.same([none.status, none.body.length], [204, 0]);
    const many = answered(await get(MANY_FIELDS_PATH));
    const ours = many.fields.filter((field) => field.name.startsWith('x-field-'));
    t.equal(ours.length, MANY_FIELDS);
    for (const { name, value } of ours) assert.equal(value, name.padEnd(100, '.'));
    t.match(await get(RESET_PATH), {
      kind: 'failed',
      isUnprocessed: false,
      reason: 'INTERNAL_ERROR',
      status: 200,
    });
    t.match(await get(REFUSED_PATH), {
      kind: 'failed',
      isUnprocessed: true,
      reason: 'REFUSED_STREAM',
      status: null,
    });
    t.match(await get(PING_PATH), { status: 200 }, 'a PING was answered');
    t.equal(client.drainingReason(), null);

    t.match(await get(GOAWAY_PATH), { status: 200 }, 'the answer after a GOAWAY');
    t.equal(await client.closed, 'drained');
    t.equal(client.drainingReason(), 'GOAWAY NO_ERROR');
    t.match(await get(SMALL_PATH), { kind: 'failed', isUnprocessed: true });
  }
});

t.test('node:http2: the table of fields changes its size between requests', async (t) => {
  const { origin, ca } = await startNodeServer(t);
  const client = await openClient(t, origin, { ca });
  const fields = ['one', 'two', 'three'].map((name) => ({
    name: `x-${name}`,
    value: name.repeat(9),
    indexing: 'incremental' as const,
  }));
  const request = client.prepare(getOf(origin, `${SMALL_PATH}?`, fields));
  for (const headerTableSize of [0, 64, 4_096, 65_536, 200, 0, 0, 4_096]) {
    await demand(client, origin, { headerTableSize });
    const answers = await times(30, (index) => client.ask(request, String(index)));
    t.ok(answers.every(isSmallFile), `with ${headerTableSize} octets`);
  }
  const running = times(500, (index) => client.ask(request, 'x'.repeat(index)));
  const sizes = [0, 100, 4_096, 50, 4_096];
  const demanded = sizes.map((headerTableSize) => demand(client, origin, { headerTableSize }));
  t.ok((await running).every(isSmallFile), 'and while requests run');
  await Promise.all(demanded);
  t.equal(client.drainingReason(), null);
});

t.test('node:http2: the limit of streams changes while requests run', async (t) => {
  const { origin, ca } = await startNodeServer(t);
  const client = await openClient(t, origin, { ca });
  const request = client.prepare(getOf(origin, `${SMALL_PATH}?`));
  for (const maxConcurrentStreams of [1, 7, 300, 2]) {
    // The server refuses requests that it had not seen when it lowered the limit; they are sent
    // again.
    const running = times(200, (index) => askUntilProcessed(client, request, String(index)));
    await demand(client, origin, { maxConcurrentStreams });
    t.ok((await running).every(isSmallFile));
    t.equal(client.connection.capacity, maxConcurrentStreams);
  }
  const refused = await times(50, () => client.ask(request));
  t.ok(refused.every(isSmallFile), 'none was refused');
});

t.test('node:http2: windows change while content is on its way', async (t) => {
  const { origin, ca } = await startNodeServer(t);
  const client = await openClient(t, origin, { ca });
  const content = Buffer.alloc(100_000, 'between windows ');
  const long = client.prepare(postOf(origin, ECHO_PATH, content, '!'));
  for (const initialWindowSize of [5_000, 0, 1_000_000, 16_384, 65_535]) {
    // Requests under way are left with a window below zero when it shrinks.
    const running = times(8, (index) => client.ask(long, String(index)));
    const grown = initialWindowSize === 0 ? 2_000 : initialWindowSize;
    await demand(client, origin, { initialWindowSize: grown });
    (await running).forEach((answer, index) => {
      assert.equal(bodyOf(answer), `${content}${index}!`);
    });
    t.pass(`${grown} octets`);
  }
  t.equal(client.drainingReason(), null);
});

t.test('a socket that closes in the middle gives every request one end', async (t) => {
  const server = await startNodeServer(t);
  for (const how of ['end', 'reset'] as const) {
    const relay = await startRelay(t, Number(new URL(server.cleartextOrigin).port));
    const origin = `http://127.0.0.1:${relay.port}`;
    const client = await openClient(t, origin);
    const silent = client.prepare(getOf(origin, SILENCE_PATH));
    const running = times(100, () => client.ask(silent));
    // Asked after them, so that they are all at the server.
    t.match(await client.ask(client.prepare(getOf(origin, SMALL_PATH))), { status: 200 });
    relay.cut(how);
    for (const answer of await running) {
      assert(answer.kind === 'failed' && !answer.isUnprocessed && answer.status === null);
    }
    t.comment(await client.closed);
    t.match(await client.ask(silent), { kind: 'failed', isUnprocessed: true });
    t.equal(client.connection.capacity, 0);
  }
});

/** A wire that can be cut, between a client and a port of this machine. */
async function startRelay(t: Test, toPort: number) {
  const sockets = new Set<Socket>();
  const relay = createServer((near) => {
    const far = connectTcp(toPort, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('error', () => undefined);
      from.pipe(to);
    }
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const cut = (how: 'end' | 'reset'): void => {
    for (const socket of sockets) {
      if (how === 'end') socket.destroy();
      else socket.resetAndDestroy();
    }
  };
  t.teardown(() => {
    cut('end');
    relay.close();
  });
  return { port: (relay.address() as AddressInfo).port, cut };
}
