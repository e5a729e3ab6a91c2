/**
 * Our reading of mutated requests beside that of Node's own server (llhttp). Ours may refuse more;
 * it must never see a request where Node sees none, or another one: that is how requests are
 * smuggled past a proxy.
 */

import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer, METHODS } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import t from 'tap';
import type { RequestHandler } from '../../../packages/http1/src/front.ts';
import { Listener } from '../../../packages/http1/src/listener.ts';
import type { Lifetime } from '../../support/lifetime.ts';

const ROUNDS = 600;
const SEED = 20_261_122;

const SEEDS = [
  'POST /a?b=c HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET /next HTTP/1.1\r\nHost: b\r\n\r\n',
  'POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nA: b\r\n\r\nGET /next HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\n',
  '\r\nGET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1\r\nConnection: keep-alive\r\n\r\nDELETE /b HTTP/1.1\r\nHost: a\r\n\r\n',
];
/** Inserted texts, taken from those of smugglers. */
const SNIPPETS = [
  '\r\n',
  '\n',
  '\r',
  ' ',
  '\t',
  '\0',
  '\x0b',
  '\xa0',
  ':',
  ';',
  ',',
  '0',
  '1',
  'f',
  '+',
  '-',
  'Content-Length: 1\r\n',
  'Content-Length: 3\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: identity\r\n',
  'Transfer-Encoding:\x0bchunked\r\n',
  ' folded\r\n',
  'Host: c\r\n',
  'Connection: close\r\n',
  'GET /smuggled HTTP/1.1\r\nHost: s\r\n\r\n',
];

let state = SEED;
const random = (below: number): number => {
  state = (state * 48_271) % 2_147_483_647;
  return state % below;
};

function mutated(): string {
  let text = SEEDS[random(SEEDS.length)] ?? '';
  for (let changes = 1 + random(3); changes > 0; changes -= 1) {
    const at = random(text.length);
    const cut = [0, 0, 1, 1, 2, 10][random(6)] ?? 0;
    const snippet = random(3) === 0 ? '' : (SNIPPETS[random(SNIPPETS.length)] ?? '');
    text = text.slice(0, at) + snippet + text.slice(at + cut);
  }
  return text;
}

/** RFC 9110, 5.6.3 lets a tab follow a value; Node refuses it there. */
const KNOWN_DIFFERENCE = /Content-Length: *\d+ *\t/;

/** The server's requests, as `METHOD target body`. */
const seen: string[] = [];
const OK = 'ok';

async function startOurs(t: Lifetime): Promise<number> {
  const handler: RequestHandler = {
    begin({ method, path, query }, reply) {
      let body = '';
      return {
        data(piece, isLast) {
          body += piece.toString('latin1');
          if (!isLast) return;
          seen.push(`${method} ${path}${query === '' ? '' : `?${query}`} ${body}`);
          reply.send({
            status: 200,
            writeFields: () => undefined,
            body: OK,
            isHead: method === 'HEAD',
            closes: false,
          });
        },
        abort: () => undefined,
      };
    },
    refuse: ({ status, detail }, reply) =>
      reply.send({
        status,
        writeFields: () => undefined,
        body: detail,
        isHead: false,
        closes: true,
      }),
  };
  const listener = new Listener({
    host: '127.0.0.1',
    port: 0,
    handler,
    readHeaders: [],
    certificate: null,
    connectionsMax: 100,
    headTimeoutMs: 5_000,
    idleTimeoutMs: 5_000,
    answerTimeoutMs: 5_000,
    unsentBytesMax: 1_000_000,
    log: pino({ level: 'silent' }),
  });
  await listener.listen();
  t.teardown(() => listener.close(0));
  return listener.port;
}

async function startNodes(t: Lifetime): Promise<number> {
  const server: Server = createServer({ requestTimeout: 5_000 }, (request, response) => {
    // Its handlers run side by side: each has its place.
    const place = seen.push('not whole') - 1;
    void text(request.setEncoding('latin1')).then(
      (body) => {
        seen[place] = `${request.method} ${request.url} ${body}`;
        response.end(OK);
      },
      () => undefined,
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** The requests that the server at `port` reads. */
async function requestsIn(input: string, port: number): Promise<readonly string[]> {
  seen.length = 0;
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  socket.end(input, 'latin1');
  socket.resume();
  await once(socket, 'close');
  return [...seen];
}

t.setTimeout(120_000);

t.test('what we take for a request, Node takes for the same', async (t) => {
  const [ours, nodes] = [await startOurs(t), await startNodes(t)];
  let both = 0;
  let refused = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const input = mutated();
    if (KNOWN_DIFFERENCE.test(input)) continue;
    const mine = await requestsIn(input, ours);
    const theirs = await requestsIn(input, nodes);
    // Node knows a list of methods; to us it is the router that knows.
    const comparable = mine.filter((request) => METHODS.includes(request.split(' ')[0] ?? ''));
    if (comparable.length < mine.length) continue;
    both += mine.length;
    refused += theirs.length - mine.length;
    if (mine.some((request, index) => request !== theirs[index])) {
      t.same(mine, theirs, `seed ${SEED}, round ${round}: ${JSON.stringify(input)}`);
    }
  }
  t.ok(both > ROUNDS / 4, `${both} requests were read by both`);
  t.ok(refused >= 0, `${refused} were refused by us alone`);
});
