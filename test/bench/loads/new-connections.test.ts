import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { generate } from 'selfsigned';
import type { Test } from 'tap';
import t from 'tap';
import type { Round, Target } from '../../../bench/loads/load.ts';
import { newConnections, resumedSessions } from '../../../bench/loads/new-connections.ts';

const ROUND: Round = { connections: 4, seconds: 0.3, kind: 'repeated', tags: 2 };

/** A target that counts the connections that it accepts. */
async function listen(t: Test, server: Server, scheme: 'http' | 'https') {
  let accepted = 0;
  server.on('connection', () => {
    accepted += 1;
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const target: Target = {
    baseUrl: `${scheme}://127.0.0.1:${port}`,
    appId: 1,
    platformId: 3,
    tagIds: [1, 2],
    token: 'token',
  };
  return { target, accepted: () => accepted };
}

/** Answers 200 to what a device would send, and 400 to anything else. */
const answer: RequestListener = (request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text: string) => {
    body += text;
  });
  request.once('end', () => {
    const isRight =
      request.url === '/push-api/reg' &&
      request.headers.authorization === 'Bearer token' &&
      body.startsWith('{"appId":1,"platformId":3,"tagId":[1,2],"deviceId":"');
    response.writeHead(isRight ? 200 : 400).end('OK');
  });
};

t.test('each request has a connection of its own', async (t) => {
  const { target, accepted } = await listen(t, createServer(answer), 'http');
  const seen = await newConnections(t).run(target, ROUND);
  t.ok(seen.answered >= ROUND.connections);
  t.equal(accepted(), seen.answered);
  t.match(seen, { failures: 0, resumedShare: null });
  t.ok(seen.p50Ms > 0 && seen.p99Ms >= seen.p50Ms && seen.perSecond > 0);
});

t.test('other answers and lost connections are failures', async (t) => {
  const refusing = await listen(
    t,
    createServer((_request, response) => response.writeHead(500).end('no')),
    'http',
  );
  const refused = await newConnections(t).run(refusing.target, ROUND);
  t.equal(refused.answered, 0);
  t.equal(refused.failures, refusing.accepted());
  const closing = await listen(
    t,
    createServer(({ socket }) => socket.destroy()),
    'http',
  );
  const lost = await newConnections(t).run(closing.target, ROUND);
  t.equal(lost.answered, 0);
  t.equal(lost.failures, closing.accepted());
});

t.test('TLS sessions are resumed when that is asked for', async (t) => {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    curve: 'P-256',
  });
  const { target, accepted } = await listen(t, createTlsServer({ cert, key }, answer), 'https');
  const fresh = await newConnections(t).run(target, ROUND);
  t.match(fresh, { failures: 0, resumedShare: 0 });
  t.equal(accepted(), fresh.answered);
  const resumed = await resumedSessions(t).run(target, ROUND);
  t.equal(resumed.failures, 0);
  const shortHandshakes = Math.round((resumed.resumedShare ?? 0) * resumed.answered);
  t.equal(shortHandshakes, resumed.answered - ROUND.connections, 'all but each caller’s first');
});
