/**
 * The server's side in conversation with `node:http2`'s client, and with ours, over a pair of
 * streams.
 */

import { once } from 'node:events';
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import { connect, constants } from 'node:http2';
import { duplexPair } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Test } from 'tap';
import t from 'tap';
import { ErrorCode } from '../../../../packages/http2/src/error.ts';
import { Flag, FRAME_HEAD_OCTETS, FrameType } from '../../../../packages/http2/src/frame/head.ts';
import type { RequestHead } from '../../../../packages/http2/src/message/request.ts';
import type {
  ServerEvents,
  ServerOptions,
} from '../../../../packages/http2/src/server/server-connection.ts';
import { ServerConnection } from '../../../../packages/http2/src/server/server-connection.ts';

interface Requested {
  readonly streamId: number;
  readonly head: RequestHead;
  readonly body: string;
}

type OnRequest = (server: ServerConnection, requested: Requested) => void;

const OPTIONS: ServerOptions = { streamsMax: 100, bodyOctetsMax: 1_000_000, endsApart: false };
const NO_BODY = Buffer.alloc(0);

/** A server that does with each request what the test says, and node's client connected to it. */
function serve(
  t: Test,
  onRequest: OnRequest,
  options: Partial<ServerOptions> = {},
  events: Partial<ServerEvents> = {},
) {
  const [near, far] = duplexPair();
  const opened: number[] = [];
  const closed = new Promise<void>((resolve) => {
    const server: ServerConnection = new ServerConnection(
      far,
      { ...OPTIONS, ...options },
      {
        opened: (streamId) => opened.push(streamId),
        requested: (streamId, head, body) =>
          onRequest(server, { streamId, head, body: body.toString() }),
        closed: resolve,
        ...events,
      },
    );
  });
  const session = connect('http://localhost', { createConnection: () => near });
  session.on('error', () => undefined);
  t.teardown(() => session.destroy());
  return { session, opened, closed };
}

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function ask(
  session: ClientHttp2Session,
  fields: Readonly<Record<string, string>> = {},
  body = '',
): Promise<Reply> {
  const stream = session.request({ ':method': 'POST', ':path': '/', ...fields });
  const responded = once(stream, 'response') as Promise<[IncomingHttpHeaders]>;
  stream.end(body);
  const [headers] = await responded;
  return { status: Number(headers[':status']), headers, body: await text(stream) };
}

/** The code that a stream was reset with. */
const resetOf = (stream: ClientHttp2Stream): Promise<number> =>
  new Promise((resolve) => {
    stream.on('error', () => undefined);
    stream.on('close', () => resolve(stream.rstCode));
    stream.resume();
  });

const echo: OnRequest = (server, { streamId, head, body }) =>
  server.respond(streamId, {
    status: 200,
    fields: [{ name: 'x-path', value: head.path, indexing: 'without' }],
    body: Buffer.from(body),
  });

t.test('a request and its response, with and without content', async (t) => {
  const heads: RequestHead[] = [];
  const { session, opened } = serve(t, (server, requested) => {
    heads.push(requested.head);
    echo(server, requested);
  });
  const { status, headers, body } = await ask(session, { ':path': '/a?b', 'x-one': '1' }, 'hello');
  t.match({ status, path: headers['x-path'], body }, { status: 200, path: '/a?b', body: 'hello' });
  t.match(await ask(session), { status: 200, body: '' });
  t.same(opened, [1, 3]);
  t.match(heads[0], { method: 'POST', scheme: 'http', authority: 'localhost', path: '/a?b' });
  t.match(heads[0]?.fields, [{ name: 'x-one', value: '1' }]);
});

t.test('content larger than every window goes both ways', async (t) => {
  const { session } = serve(t, echo);
  const long = 'x'.repeat(300_000);
  const replies = await Promise.all(Array.from({ length: 5 }, () => ask(session, {}, long)));
  for (const { body } of replies) t.equal(body.length, long.length);
});

t.test('what a body has beyond the limit is cut, and the request still served', async (t) => {
  const { session } = serve(t, echo, { bodyOctetsMax: 10 });
  t.match(await ask(session, {}, 'x'.repeat(200_000)), { status: 200, body: 'x'.repeat(10) });
  t.match(await ask(session, {}, '0123456789a'), { body: '0123456789' });
  t.match(await ask(session, {}, '0123456789'), { body: '0123456789' });
});

t.test('fields larger than a frame are continued, in both directions', async (t) => {
  const large = 'v'.repeat(40_000);
  const { session } = serve(t, (server, { streamId, head }) =>
    server.respond(streamId, {
      status: 200,
      fields: head.fields.map(({ name, value }) => ({ name, value, indexing: 'never' })),
      body: NO_BODY,
    }),
  );
  t.equal((await ask(session, { 'x-large': large })).headers['x-large'], large);
});

t.test('trailers of a request end it', async (t) => {
  const { session } = serve(t, echo);
  const stream = session.request({ ':method': 'POST', ':path': '/' }, {
    waitForTrailers: true,
  } as object);
  stream.on('wantTrailers', () => stream.sendTrailers({ 'x-check': '1' }));
  stream.end('body');
  const responded = once(stream, 'response') as Promise<[IncomingHttpHeaders]>;
  t.equal((await responded)[0][':status'], 200);
  t.equal(await text(stream), 'body');
});

t.test(
  'streams beyond the limit are refused, whether or not the client has heard of it',
  async (t) => {
    const [near, far] = duplexPair();
    t.teardown(() => near.destroy());
    const requested: number[] = [];
    const server: ServerConnection = new ServerConnection(
      far,
      { ...OPTIONS, streamsMax: 2 },
      {
        opened: () => undefined,
        requested: (streamId) => {
          requested.push(streamId);
          if (streamId === 1) server.allowStreams(1);
        },
        closed: () => undefined,
      },
    );
    near.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    near.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    // HEADERS with END_STREAM and END_HEADERS: GET https://a/ out of HPACK's static table.
    const get = (streamId: number): Buffer =>
      Buffer.from([0, 0, 6, 1, 5, 0, 0, 0, streamId, 0x82, 0x87, 0x84, 0x41, 1, 0x61]);
    near.write(Buffer.concat([get(1), get(3), get(5)]));
    const refused = Buffer.from([0, 0, 4, 3, 0, 0, 0, 0, 5, 0, 0, 0, ErrorCode.REFUSED_STREAM]);
    let received = Buffer.alloc(0);
    for await (const chunk of near as AsyncIterable<Buffer>) {
      received = Buffer.concat([received, chunk]);
      if (received.includes(refused)) break;
    }
    t.same(requested, [1], 'the second was one too many by then');
  },
);

t.test('a later limit waits for the acknowledgement of the one before', async (t) => {
  const { session } = serve(t, (server, { streamId }) => {
    for (const streamsMax of [50, 40, 30]) server.allowStreams(streamsMax);
    server.respond(streamId, { status: 200, fields: [], body: NO_BODY });
  });
  const limits: (number | undefined)[] = [];
  const settled = new Promise<void>((resolve) => {
    session.on('remoteSettings', ({ maxConcurrentStreams }) => {
      limits.push(maxConcurrentStreams);
      if (maxConcurrentStreams === 30) resolve();
    });
  });
  await ask(session);
  await settled;
  t.same(limits.slice(-2), [50, 30], 'the one between was never of interest');
});

t.test(
  'GOAWAY: streams up to the last are served, later ones refused, then it closes',
  async (t) => {
    const held: Requested[] = [];
    const { session, closed } = serve(t, (server, requested) => {
      held.push(requested);
      if (held.length !== 2) return;
      server.sendGoAway(requested.streamId, ErrorCode.NO_ERROR, 'bye');
      for (const one of held) setImmediate(() => echo(server, one));
    });
    const goneAway = once(session, 'goaway');
    const streams = [1, 2, 3].map(() => session.request({ ':method': 'POST', ':path': '/' }));
    for (const stream of streams) stream.end();
    const [, , third] = streams;
    if (third === undefined) throw new Error('three were made');
    const refusal = resetOf(third);
    const statuses = streams.slice(0, 2).map(async (stream) => {
      const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
      stream.resume();
      return headers[':status'];
    });
    const [code, lastStreamId, words] = await goneAway;
    t.match([code, lastStreamId, String(words)], [0, 3, 'bye']);
    t.same(await Promise.all(statuses), [200, 200]);
    t.equal(await refusal, ErrorCode.REFUSED_STREAM);
    await closed;
  },
);

t.test('a limit that is lowered at once refuses what was begun before it was known', async (t) => {
  let served = 0;
  const { session } = serve(t, (server, requested) => {
    served += 1;
    if (served === 1) server.allowStreamsOnly(1);
    echo(server, requested);
  });
  await once(session, 'remoteSettings');
  const streams = [1, 2, 3].map(() => session.request({ ':method': 'POST', ':path': '/' }));
  for (const stream of streams) stream.end();
  const codes = await Promise.all(streams.map(resetOf));
  t.same(codes, [ErrorCode.NO_ERROR, ErrorCode.REFUSED_STREAM, ErrorCode.REFUSED_STREAM]);
  t.equal((await ask(session)).status, 200, 'it knows now');
  t.equal(served, 2);
});

t.test('a first limit below the later one', async (t) => {
  const { session } = serve(t, echo, { streamsMaxAtStart: 3 });
  const [settings] = await once(session, 'remoteSettings');
  t.equal(settings.maxConcurrentStreams, 3);
});

t.test('PINGs of both sides', async (t) => {
  let pinged = 0;
  let acknowledged: () => void = () => undefined;
  const read = new Promise<void>((resolve) => {
    acknowledged = resolve;
  });
  const onRequest: OnRequest = (server, requested) => {
    echo(server, requested);
    server.sendPing();
  };
  const { session } = serve(
    t,
    onRequest,
    {},
    {
      pinged: () => {
        pinged += 1;
      },
      pingAcknowledged: () => acknowledged(),
    },
  );
  await ask(session);
  await read;
  await new Promise((resolve) => session.ping(resolve));
  t.equal(pinged, 1);
});

t.test('GOAWAY that warns, then others, whose last stream never rises', async (t) => {
  const { session, closed } = serve(t, (server, requested) => {
    server.announceGoAway('soon');
    server.sendGoAway(requested.streamId, ErrorCode.NO_ERROR, 'now');
    server.sendGoAway(server.highestStreamId + 2, ErrorCode.NO_ERROR, 'again');
    echo(server, requested);
  });
  const goAways: unknown[] = [];
  session.on('goaway', (_, lastStreamId, words) => goAways.push([lastStreamId, String(words)]));
  t.equal((await ask(session)).status, 200);
  await closed;
  t.same(goAways.slice(0, 3), [
    [2 ** 31 - 1, 'soon'],
    [1, 'now'],
    [1, 'again'],
  ]);
});

t.test('streams above a GOAWAY can be left without a word', async (t) => {
  const lost: number[] = [];
  const { session, closed } = serve(
    t,
    (server, requested) => {
      if (requested.streamId !== 3) return;
      server.sendGoAway(1, ErrorCode.NO_ERROR, '', 'ignored');
      t.equal(server.streamsOpen, 1);
      t.equal(server.respond(3, { status: 200, fields: [], body: NO_BODY }), false);
      t.equal(server.respond(1, { status: 200, fields: [], body: NO_BODY }), true);
    },
    {},
    { lost: (streamId) => lost.push(streamId) },
  );
  const streams = [1, 2, 3].map(() => session.request({ ':method': 'POST', ':path': '/' }));
  const ends = streams.map(resetOf);
  for (const stream of streams) stream.end();
  await closed;
  t.equal((await Promise.all(ends))[0], ErrorCode.NO_ERROR);
  t.same(lost, []);
});

t.test('to abandon it sends what was responded, then GOAWAY with an error', async (t) => {
  const lost: number[] = [];
  const { session, closed } = serve(
    t,
    (server, requested) => {
      if (requested.streamId !== 1) server.respond(1, { status: 200, fields: [], body: NO_BODY });
      if (requested.streamId === 5) server.abandon(3, ErrorCode.ENHANCE_YOUR_CALM, 'enough');
    },
    {},
    { lost: (streamId) => lost.push(streamId) },
  );
  const goneAway = once(session, 'goaway');
  const streams = [1, 2, 3].map(() => session.request({ ':method': 'POST', ':path': '/' }));
  const responded = once(streams[0] ?? session, 'response');
  for (const stream of streams) {
    stream.on('error', () => undefined);
    stream.end();
  }
  t.match(await responded, [{ ':status': 200 }]);
  const [code, lastStreamId, words] = await goneAway;
  t.match([code, lastStreamId, String(words)], [ErrorCode.ENHANCE_YOUR_CALM, 3, 'enough']);
  await closed;
  t.same(lost, [3, 5]);
});

t.test('frozen it neither reads nor responds', async (t) => {
  const frozen: ServerConnection[] = [];
  const requests: number[] = [];
  const { session, closed } = serve(t, (server, { streamId }) => {
    requests.push(streamId);
    server.freeze();
    frozen.push(server);
    t.equal(server.respond(streamId, { status: 200, fields: [], body: NO_BODY }), false);
  });
  const streams = [1, 2].map(() => session.request({ ':method': 'POST', ':path': '/' }));
  for (const stream of streams) {
    stream.on('error', () => undefined);
    stream.end();
  }
  let isAnswered = false;
  while (frozen.length === 0) await new Promise((resolve) => setImmediate(resolve));
  session.ping(() => {
    isAnswered = true;
  });
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  t.notOk(isAnswered);
  t.same(requests, [1]);
  frozen[0]?.destroy('enough');
  await closed;
});

t.test('the window of the connection is as wide as it was asked to be', async (t) => {
  for (const windowOctets of [65_535, 100_000]) {
    const { session } = serve(t, echo, { windowOctets });
    await ask(session);
    t.equal(session.state.remoteWindowSize, windowOctets);
  }
});

t.test('a stream that the client has reset is lost', async (t) => {
  let lose: (streamId: number) => void = () => undefined;
  const lost = new Promise<number>((resolve) => {
    lose = resolve;
  });
  const { session } = serve(t, () => undefined, {}, { lost: (streamId) => lose(streamId) });
  const stream = session.request({ ':method': 'POST', ':path': '/' });
  stream.end();
  await once(session, 'remoteSettings');
  stream.close(constants.NGHTTP2_CANCEL);
  t.equal(await lost, 1);
});

t.test('a stream that the client has reset is not responded to', async (t) => {
  const { session } = serve(t, (server, requested) => {
    if (requested.head.path === '/slow') setTimeout(() => echo(server, requested), 20);
    else setTimeout(() => echo(server, requested), 60);
  });
  const slow = session.request({ ':method': 'POST', ':path': '/slow' });
  slow.end();
  setImmediate(() => slow.close(constants.NGHTTP2_CANCEL));
  t.equal(await resetOf(slow), ErrorCode.CANCEL);
  t.equal((await ask(session)).status, 200, 'the connection goes on');
});

t.test('an end of its own, as FCM sends it', async (t) => {
  const { session } = serve(t, echo, { endsApart: true });
  t.match(await ask(session, {}, 'body'), { status: 200, body: 'body' });
  t.match(await ask(session), { status: 200, body: '' });
});

t.test('a client that is no HTTP/2 client is told and left', async () => {
  const [near, far] = duplexPair();
  const closed = new Promise<void>((resolve) => {
    void new ServerConnection(far, OPTIONS, {
      opened: () => undefined,
      requested: () => undefined,
      closed: resolve,
    });
  });
  near.write('GET / HTTP/1.1\r\n\r\n');
  near.resume();
  await closed;
  near.destroy();
});

/**
 * Octets of a client that keeps to no rule, up to the GOAWAY that answers them: its code and text,
 * and what was requested.
 */
async function converse(octets: readonly number[][], options: Partial<ServerOptions> = {}) {
  const [near, far] = duplexPair();
  const requested: number[] = [];
  void new ServerConnection(
    far,
    { ...OPTIONS, ...options },
    {
      opened: () => undefined,
      requested: (streamId) => requested.push(streamId),
      closed: () => undefined,
    },
  );
  near.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  near.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
  near.write(Buffer.from(octets.flat()));
  // A frame of SETTINGS on a stream ends what goes on until then.
  near.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 9]));
  let received = Buffer.alloc(0);
  for await (const chunk of near as AsyncIterable<Buffer>) {
    received = Buffer.concat([received, chunk]);
  }
  near.destroy();
  let at = 0;
  while (received[at + 3] !== FrameType.GOAWAY)
    at += FRAME_HEAD_OCTETS + received.readUIntBE(at, 3);
  const text = received.subarray(at + 17, at + FRAME_HEAD_OCTETS + received.readUIntBE(at, 3));
  return { requested, code: received.readUInt32BE(at + 13), text: text.toString() };
}

/** HEADERS with END_HEADERS: GET https://a/ out of HPACK's static table. */
const get = (streamId: number, flags: number = Flag.END_STREAM): number[] => [
  ...[0, 0, 6, 1, Flag.END_HEADERS | flags, 0, 0, 0, streamId],
  ...[0x82, 0x87, 0x84, 0x41, 1, 0x61],
];

t.test('a stream that begins after a later one ends the connection (5.1.1)', async (t) => {
  t.match(await converse([get(1), get(7), get(3)]), {
    requested: [1, 7],
    code: ErrorCode.PROTOCOL_ERROR,
    text: 'stream 3 begins after stream 7',
  });
  t.match(await converse([get(5), get(1)]), { requested: [5], text: /stream 1 begins after/ });
  const { requested, text } = await converse([get(1, Flag.NONE), get(3), get(3), get(9)], {
    streamsMax: 1,
  });
  t.same(requested, [], 'a stream that was refused may have had more on its way');
  t.match(text, /SETTINGS/, 'which is no fault');
});
