/**
 * Our client and HTTP/2 servers that we did not write: nghttpd, h2o, nginx, node:http2; over TLS
 * and in clear text.
 */

import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import type { Settings } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { connect as connectTcp, createServer } from 'node:net';
import type { Test } from 'tap';
import t from 'tap';
import type { PreparedRequest } from '../../../src/http2/client/request-form.ts';
import type { Answer, TestClient } from '../../support/http2-client.ts';
import { getOf, openClient, postOf } from '../../support/http2-client.ts';
import { onEachHttp2Server } from '../../support/http2-servers/each-server.ts';
import { NGHTTPD_TRAILER } from '../../support/http2-servers/nghttpd.ts';
import { NGINX_COUNTS_PATH } from '../../support/http2-servers/nginx.ts';
import type { Counts } from '../../support/http2-servers/node-server.ts';
import {
  COUNTS_PATH,
  GOAWAY_PATH,
  INFORMATIONAL_PATH,
  MANY_FIELDS,
  MANY_FIELDS_PATH,
  NO_CONTENT_PATH,
  PING_PATH,
  REFUSED_PATH,
  RESET_PATH,
  SETTINGS_PATH,
  SILENCE_PATH,
  startNodeServer,
  TRAILERS_PATH,
} from '../../support/http2-servers/node-server.ts';
import {
  ECHO_PATH,
  LARGE_BODY,
  LARGE_PATH,
  SMALL_BODY,
  SMALL_PATH,
} from '../../support/http2-servers/site.ts';

t.test('files, uploads and refusals, with TLS and without', async (t) => {
  await onEachHttp2Server(t, async (t, { origin, cleartextOrigin, ca }, name) => {
    for (const from of [origin, cleartextOrigin]) {
      const client = await openClient(t, from, { ca });
      const small = answered(await client.ask(client.prepare(getOf(from, SMALL_PATH))));
      t.match({ ...small, body: small.body.toString() }, { status: 200, body: SMALL_BODY });
      const large = answered(await client.ask(client.prepare(getOf(from, LARGE_PATH))));
      t.ok(large.body.equals(LARGE_BODY), 'all of the large file');
      t.equal(large.isTruncated, false);
      const [trailerName, trailerValue] = NGHTTPD_TRAILER;
      const trailers = name === 'nghttpd' ? [{ name: trailerName, value: trailerValue }] : [];
      t.match(large.trailers, trailers);
      const echo = answered(await client.ask(client.prepare(postOf(from, ECHO_PATH, LARGE_BODY))));
      t.ok(echo.body.equals(LARGE_BODY), 'all that was posted');
      t.match(await client.ask(client.prepare(getOf(from, '/nothing'))), { status: 404 });
      // Most of them answer before they have read it all, and reset the rest.
      const refused = postOf(from, '/nothing', LARGE_BODY);
      const { status } = await client.ask(client.prepare(refused));
      // nghttpd echoes whatever is posted.
      t.equal(status, name === 'nghttpd' ? 200 : 404, 'an upload to nowhere');
      t.match(await client.ask(client.prepare(getOf(from, SMALL_PATH))), { status: 200 });
      t.equal(client.drainingReason(), null);
    }
  });
});

t.test('a body longer than wanted is cut, and the connection goes on', async (t) => {
  await onEachHttp2Server(t, async (t, { origin, ca }, name) => {
    const client = await openClient(t, origin, { ca, bodyOctetsMax: 1_000 });
    const request = client.prepare(getOf(origin, LARGE_PATH));
    // node:http2 counts up to 10 MB for each connection, of cancelled bodies too, then it refuses.
    const rounds = name === 'node:http2' ? 8 : 30;
    for (let round = 1; round <= rounds; round += 1) {
      const { body, isTruncated } = answered(await client.ask(request));
      assert(isTruncated && body.equals(LARGE_BODY.subarray(0, 1_000)));
    }
    const small = answered(await client.ask(client.prepare(getOf(origin, SMALL_PATH))));
    t.same([small.body.toString(), small.isTruncated], [SMALL_BODY, false]);
    t.equal(client.drainingReason(), null);
  });
});

t.test('hundreds of requests at once keep to the limit of streams', async (t) => {
  await onEachHttp2Server(t, async (t, { origin, cleartextOrigin, ca }, name) => {
    for (const from of [origin, cleartextOrigin]) {
      const client = await openClient(t, from, { ca });
      if (name === 'node:http2') await demand(client, from, { maxConcurrentStreams: 250 });
      const limit = client.connection.capacity;
      const request = client.prepare(getOf(from, `${SMALL_PATH}?`));
      const answers = await times(800, (index) => client.ask(request, String(index)));
      t.ok(answers.every(isSmallFile), 'all were answered');
      t.equal(client.streamsAtOnce(), Math.min(limit, 800), `${limit} streams`);
      if (name !== 'node:http2') continue;
      const { streamsAtOnce } = await countsOf(client, from);
      t.ok(streamsAtOnce <= 250, `${streamsAtOnce} at once, the server counts`);
    }
  });
});

t.test('20,000 requests are each answered once, whatever the server closes', async (t) => {
  await onEachHttp2Server(t, async (t, { origin, ca }, name) => {
    const clients: Promise<TestClient>[] = [];
    const open = (): Promise<TestClient> => {
      const client = openClient(t, origin, { ca, streamsMax: 400 });
      clients.push(client);
      return client;
    };
    const total = 20_000;
    const sentAgain = await askAll(open, getOf(origin, `${SMALL_PATH}?`), total);
    t.comment(`${name}: ${clients.length} connections, ${sentAgain} were sent again`);
    // nginx takes a thousand on each.
    t.equal(clients.length, name === 'nginx' ? total / 1_000 : 1);
    const last = await openClient(t, origin, { ca });
    if (name === 'node:http2') t.equal((await countsOf(last, origin)).requests, total + 1);
    if (name === 'nginx') {
      const counts = await last.ask(last.prepare(getOf(origin, NGINX_COUNTS_PATH)));
      const [, requests] = /accepts handled requests\s+\d+ \d+ (\d+)/.exec(bodyOf(counts)) ?? [];
      t.equal(Number(requests), total + 1);
    }
  });
});

t.test('values of any length and script, in the content', async (t) => {
  const signs = ['x', 'ü', '\n', '€', '🦩', '"', '0123456789'];
  await onEachHttp2Server(t, async (t, { origin, cleartextOrigin, ca }) => {
    for (const from of [origin, cleartextOrigin]) {
      const client = await openClient(t, from, { ca });
      const request = client.prepare(postOf(from, ECHO_PATH, '{"token":"', '","größe":1}'));
      const textOf = (index: number): string =>
        (signs[index % signs.length] ?? '').repeat((index * 37) % 9_000);
      const answers = await times(150, (index) => client.ask(request, textOf(index)));
      answers.forEach((answer, index) => {
        assert.equal(bodyOf(answer), `{"token":"${textOf(index)}","größe":1}`);
      });
      t.pass('each came back as it was sent');
    }
  });
});

/**
 * One frame, two (more with Huffman code), and from there on what servers may refuse in the way
 * they like.
 */
const FIELD_OCTETS = [5_000, 16_500, 40_000, 70_000, 300_000];
const SOME_END = /^(200|400|413|431|no answer in time|connection closed.*|GOAWAY .*|[A-Z_]+)$/;

t.test('field sections of any length come to a defined end', async (t) => {
  await onEachHttp2Server(t, async (t, { origin, cleartextOrigin, ca }) => {
    for (const from of [origin, cleartextOrigin]) {
      await times(FIELD_OCTETS.length, async (index) => {
        const octets = FIELD_OCTETS[index] ?? 0;
        // node:http2 says GOAWAY and then neither answers nor closes; the others end it themselves.
        const client = await openClient(t, from, { ca, requestTimeoutMs: 1_000 });
        // These characters have no short code.
        const field = { name: 'x-long', value: '{~}|'.repeat(octets / 4) };
        const form = getOf(from, SMALL_PATH, [{ ...field, indexing: 'without' }]);
        const answer = await client.ask(client.prepare(form));
        const end = answer.kind === 'failed' ? answer.reason : String(answer.status);
        t.match(end, SOME_END, `${octets} octets: ${end}`);
        if (octets === FIELD_OCTETS[0]) t.equal(end, '200');
      });
    }
  });
});

t.test('paths that change their length keep within a frame, or are continued', async (t) => {
  await onEachHttp2Server(t, async (t, { origin, ca }) => {
    const client = await openClient(t, origin, { ca });
    const request = client.prepare(getOf(origin, `${SMALL_PATH}?`));
    for (const length of [1, 100, 115, 116, 200, 4_000, 250, 300, 2, 7_000]) {
      const answer = await client.ask(request, '~'.repeat(length));
      t.match(answer, { status: 200 }, `${length} octets`);
    }
    // Compiled for 300 octets, and its length as a number takes as many octets as that of 16,400.
    await client.ask(request, '~'.repeat(300));
    const long = await client.ask(request, '~'.repeat(16_400));
    t.comment(long.kind === 'answered' ? long.status : long.reason);
    t.notMatch(client.drainingReason() ?? '', /FRAME_SIZE_ERROR/);
  });
});

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
    // What the server had not seen when it lowered the limit, it refuses; that is sent again.
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
    // What is under way is left with a window below zero when it shrinks.
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
    // Behind them, so that they are all at the server.
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

/**
 * Asks so often, on as many connections as it takes, and sees every answer; answers how many
 * requests were sent again.
 */
async function askAll(
  open: () => Promise<TestClient>,
  form: ReturnType<typeof getOf>,
  total: number,
): Promise<number> {
  let current = await open();
  let request = current.prepare(form);
  let replacement: Promise<void> | null = null;
  let next = 0;
  let sentAgain = 0;
  const replace = async (): Promise<void> => {
    current = await open();
    request = current.prepare(form);
    replacement = null;
  };
  const askOne = async (value: string): Promise<void> => {
    for (;;) {
      if (current.drainingReason() !== null) replacement ??= replace();
      await replacement;
      const answer = await current.ask(request, value);
      if (answer.kind === 'answered') {
        assert(isSmallFile(answer));
        return;
      }
      assert(answer.isUnprocessed, answer.reason);
      sentAgain += 1;
    }
  };
  await times(500, async () => {
    while (next < total) {
      next += 1;
      await askOne(String(next));
    }
  });
  return sentAgain;
}

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

/** The server demands other settings, and the client has acknowledged them. */
async function demand(client: TestClient, origin: string, settings: Settings): Promise<void> {
  const form = postOf(origin, SETTINGS_PATH, JSON.stringify(settings));
  assert.equal(answered(await askUntilProcessed(client, client.prepare(form))).status, 200);
}

/** Again and again while the server refuses the stream. */
async function askUntilProcessed(
  client: TestClient,
  request: PreparedRequest,
  value = '',
): Promise<Answer> {
  for (;;) {
    const answer = await client.ask(request, value);
    if (answer.kind === 'answered' || answer.reason !== 'REFUSED_STREAM') return answer;
    assert(answer.isUnprocessed);
  }
}

async function countsOf(client: TestClient, origin: string): Promise<Counts> {
  return JSON.parse(bodyOf(await client.ask(client.prepare(getOf(origin, COUNTS_PATH))))) as Counts;
}

function answered(answer: Answer) {
  if (answer.kind === 'answered') return answer;
  throw new Error(`no answer: ${answer.reason}`);
}

const bodyOf = (answer: Answer): string => answered(answer).body.toString();

const isSmallFile = (answer: Answer): boolean =>
  answer.kind === 'answered' && answer.status === 200 && answer.body.toString() === SMALL_BODY;

const times = <T>(count: number, act: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => act(index)));
