import type { Http2Session } from 'node:http2';
import { constants } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Test } from 'tap';
import t from 'tap';
import type { Outcome } from '../../src/domain/outcome.ts';
import { APNS_LIMITS } from '../../src/providers/apns/settings.ts';
import { dial as dialCompat } from '../../src/transport/compat/dial.ts';
import { dial as dialHttp2 } from '../../src/transport/http2/dial.ts';
import type { Dial } from '../../src/transport/provider-connection.ts';
import { ProviderTransport } from '../../src/transport/provider-transport.ts';
import type {
  RequestTemplate,
  TransportLimits,
  TransportName,
} from '../../src/transport/transport.ts';
import type { HandDial } from '../support/hand-dial.ts';
import { handDial } from '../support/hand-dial.ts';
import { until } from '../support/poll.ts';
import { answer, startProviderPeer } from '../support/provider-peer.ts';

const TEMPLATE: RequestTemplate = {
  tokenIn: 'path',
  pathBefore: '/3/device/',
  bodyBefore: Buffer.from('{}'),
  bodyAfter: Buffer.alloc(0),
  lastingFields: {},
  messageFields: {},
  payloadBytes: 2,
};

const DIALS: readonly (readonly [TransportName, Dial])[] = [
  ['http2', dialHttp2],
  ['compat', dialCompat],
];

function transportTo(dial: Dial, origin: string, ca: string, limits: Partial<TransportLimits>) {
  const transport = new ProviderTransport(dial, {
    admits: null,
    origin,
    ca,
    authorization: 'bearer x',
    limits: { ...APNS_LIMITS, ...limits },
    outcomeOf: ({ status }) =>
      status === 200 ? { kind: 'delivered' } : { kind: 'bad-message', reason: String(status) },
  });
  const send = async (template = TEMPLATE): Promise<Outcome> => {
    while (transport.capacity === 0) await transport.whenReady();
    return new Promise((resolve) =>
      transport.send(template, 'ab', 0, (_, outcome) => resolve(outcome)),
    );
  };
  return { transport, send };
}

for (const [name, dial] of DIALS) {
  t.test(`${name}: one stream until the peer allows more, then as many as it allows`, async (t) => {
    const peer = await startProviderPeer({
      maxConcurrentStreams: 1,
      script: (request) => {
        if (request.number === 1) request.session.settings({ maxConcurrentStreams: 30 });
        setTimeout(answer, 5, request, 200);
      },
    });
    const { transport, send } = transportTo(dial, peer.origin, peer.ca, {});
    await transport.whenReady();
    t.equal(transport.capacity, 1);
    await send();
    while (transport.capacity < 30) await send();
    t.equal(transport.capacity, 30);
    await Promise.all(Array.from({ length: 30 }, () => send()));
    t.equal(peer.streamsOpenMax(), 30);
    await transport.close();
    await peer.close();
  });

  t.test(
    `${name}: a peer that allows no stream at all is not connected to again and again`,
    async (t) => {
      const peer = await startProviderPeer({ maxConcurrentStreams: 0, script: () => undefined });
      const { transport, send } = transportTo(dial, peer.origin, peer.ca, {});
      t.match(await send(), { kind: 'unavailable', reason: 'the provider allows no stream' });
      t.equal(peer.connections(), 1);
      await transport.close();
      await peer.close();
    },
  );

  t.test(`${name}: a peer that allows no stream any more, and never again`, async (t) => {
    const peer = await startProviderPeer({
      script: (request) => {
        if (request.number === 1) request.session.settings({ maxConcurrentStreams: 0 });
        answer(request, 200);
      },
    });
    const limits = { requestTimeoutMs: 1_000 };
    const { transport, send } = transportTo(dial, peer.origin, peer.ca, limits);
    t.equal((await send()).kind, 'delivered');
    t.equal(transport.capacity, 0);
    t.equal((await send()).kind, 'delivered', 'on another connection');
    t.equal(peer.connections(), 2);
    await transport.close();
    await peer.close();
  });

  t.test(`${name}: more content than the connection's window holds`, async (t) => {
    const peer = await startProviderPeer({
      maxConcurrentStreams: 1_000,
      script: (request) => answer(request, 200),
    });
    const { transport, send } = transportTo(dial, peer.origin, peer.ca, {});
    const large = { ...TEMPLATE, bodyBefore: Buffer.alloc(1_000, 'x') };
    const outcomes = await Promise.all(Array.from({ length: 500 }, () => send(large)));
    t.ok(outcomes.every(({ kind }) => kind === 'delivered'));
    t.ok(peer.received.every(({ body }) => body.length === 1_000));
    await transport.close();
    await peer.close();
  });

  t.test(`${name}: never more streams than our own limit`, async (t) => {
    const peer = await startProviderPeer({
      maxConcurrentStreams: 4_294_967_295,
      script: (request) => answer(request, 200),
    });
    const { transport } = transportTo(dial, peer.origin, peer.ca, { streamsMax: 7 });
    await transport.whenReady();
    t.equal(transport.capacity, 7);
    await transport.close();
    await peer.close();
  });

  t.test(`${name}: a connection that died without a word is found out and replaced`, async (t) => {
    const peer = await startProviderPeer({ script: (request) => answer(request, 200) });
    const road = await startRoad(new URL(peer.origin));
    const { transport, send } = transportTo(dial, road.origin, peer.ca, {
      // A busy machine may need a tenth of a second for an answer.
      requestTimeoutMs: 500,
      pingTimeoutMs: 500,
    });
    t.equal((await send()).kind, 'delivered');
    road.swallow();
    const lost = await Promise.all([send(), send(), send()]);
    t.same(
      lost.map(({ kind }) => kind),
      ['unknown', 'unknown', 'unknown'],
    );
    let outcome = await send();
    while (outcome.kind === 'unknown') outcome = await send();
    t.equal(outcome.kind, 'delivered');
    t.equal(peer.connections(), 2);
    await transport.close();
    road.close();
    await peer.close();
  });

  t.test(`${name}: pings an idle connection, no more often in a row than allowed`, async (t) => {
    let pings = 0;
    const peer = await startProviderPeer({
      onStream: ({ session }) => {
        if (session?.listenerCount('ping') === 0) session.on('ping', () => (pings += 1));
        return false;
      },
      script: (request) => answer(request, 200),
    });
    const { transport, send } = transportTo(dial, peer.origin, peer.ca, {
      // It looks four times in this time.
      requestTimeoutMs: 500,
      pingAfterSilenceMs: 10,
      pingsInARowMax: 2,
    });
    await send();
    await until('two pings', () => (pings >= 2 ? true : null));
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    t.equal(pings, 2, 'and no more, however long it is silent');
    t.equal((await send()).kind, 'delivered');
    t.equal(peer.connections(), 1);
    await transport.close();
    await peer.close();
  });

  t.test(`${name}: what was refused is not tried again once its time is over`, async (t) => {
    let asked = 0;
    const peer = await startProviderPeer({
      script: (request) => {
        asked += 1;
        setTimeout(() => request.stream.close(constants.NGHTTP2_REFUSED_STREAM), 1_200);
      },
    });
    const { transport, send } = transportTo(dial, peer.origin, peer.ca, {
      requestTimeoutMs: 2_000,
    });
    t.equal((await send()).kind, 'refused');
    t.ok(asked <= 2, `${asked} times, though it may be refused thrice`);
    await transport.close();
    await peer.close();
  });

  t.test(
    `${name}: a connection that ends with its first words is followed by another`,
    async (t) => {
      const ends = [
        (session: Http2Session) => session.goaway(constants.NGHTTP2_NO_ERROR, 0),
        (session: Http2Session) => session.goaway(constants.NGHTTP2_INTERNAL_ERROR, 0),
        (session: Http2Session) => session.close(),
      ];
      for (const end of ends) {
        const peer = await startProviderPeer({
          onSession: (session, number) => {
            if (number === 1) end(session);
          },
          script: (request) => answer(request, 200),
        });
        const { transport, send } = transportTo(dial, peer.origin, peer.ca, {
          reconnectPauseMs: 1,
          reconnectPauseMsMax: 1,
        });
        let outcome = await send();
        while (outcome.kind === 'unavailable') outcome = await send();
        t.equal(outcome.kind, 'delivered');
        t.equal(peer.connections(), 2);
        t.equal(transport.connections, 1, 'the first one is not counted');
        await transport.close();
        await peer.close();
      }
    },
  );

  t.test(`${name}: a peer that accepts and never speaks TLS`, async (t) => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => sockets.push(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { transport, send } = transportTo(
      dial,
      `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
      '',
      { connectTimeoutMs: 50 },
    );
    t.match(await send(), { kind: 'unavailable', reason: 'connection time-out' });
    await transport.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
}

/**
 * A transport over connections that the test plays: 503 is refused, 403 an expired authorization,
 * 429 too much.
 */
function transportByHand(t: Test, { dial }: HandDial) {
  const transport = new ProviderTransport(dial, {
    admits: null,
    origin: 'https://127.0.0.1',
    ca: null,
    authorization: 'bearer x',
    limits: { ...APNS_LIMITS, reconnectPauseMs: 60_000, drainTimeoutMs: 10 },
    outcomeOf: ({ status }): Outcome => {
      if (status === 503) return { kind: 'refused', reason: 'Shutdown' };
      if (status === 429) return { kind: 'throttled-target', reason: 'x', retryAfterMs: null };
      return status === 403
        ? { kind: 'expired-authorization', reason: 'ExpiredProviderToken' }
        : { kind: 'delivered' };
    },
  });
  t.teardown(() => transport.close());
  const outcomes: Outcome[] = [];
  const send = (): void =>
    transport.send(TEMPLATE, 'ab', 0, (_, outcome) => outcomes.push(outcome));
  return { transport, send, outcomes };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
}

t.test('what was refused goes to a connection that has room, though none says so', async (t) => {
  const hand = handDial(2);
  const { transport, send } = transportByHand(t, hand);
  transport.warm(2);
  await turns();
  for (let sends = 0; sends < 3; sends += 1) send();
  const [first, second] = hand.connections;
  t.equal(second?.started, 1);
  // A GOAWAY above both of them: nothing more is heard of that connection but its end.
  first?.leave('GOAWAY');
  first?.refuse();
  first?.refuse();
  first?.events.gone('drained');
  await turns();
  t.equal(second?.started, 2, 'as many as it has room for');
});

t.test('what was under way on a lost connection makes room for others at once', async (t) => {
  const hand = handDial(200);
  const { transport, send } = transportByHand(t, hand);
  transport.warm(1);
  await turns();
  for (let sends = 0; sends < 100; sends += 1) send();
  const [first] = hand.connections;
  for (let answers = 0; answers < 90; answers += 1) first?.answer(429);
  while (transport.capacity > 0) send();
  first?.leave('GOAWAY');
  transport.warm(1);
  await turns();
  t.equal(transport.connections, 1);
  t.equal(transport.capacity, 0, 'too much was under way, and still is');
  let isReady = false;
  void transport.whenReady().then(() => {
    isReady = true;
  });
  first?.destroy('ECONNRESET');
  await turns();
  t.ok(isReady);
});

t.test('a connection that is gone before it is there is followed by another', async (t) => {
  const hand = handDial(5, (connection, number) => {
    if (number === 1) connection.destroy('ECONNRESET');
  });
  const { transport } = transportByHand(t, hand);
  await transport.whenReady();
  t.equal(transport.capacity, 5);
  t.equal(hand.connections.length, 2);
});

t.test('told to calm down, answers to what is under way do not end the pause', async (t) => {
  const hand = handDial(5);
  const { transport, send, outcomes } = transportByHand(t, hand);
  await transport.whenReady();
  send();
  send();
  const [connection] = hand.connections;
  connection?.leave('GOAWAY ENHANCE_YOUR_CALM', true);
  connection?.answer(200);
  t.equal(transport.capacity, 1);
  send();
  t.equal(transport.capacity, 0, 'one at a time');
  await turns();
  t.match(outcomes, [{ kind: 'delivered' }, { kind: 'unavailable' }]);
  t.equal(hand.connections.length, 1);
});

t.test(
  'a connection that saw the old authorization expire is given up, however late',
  async (t) => {
    const hand = handDial(1);
    const { transport, send } = transportByHand(t, hand);
    transport.warm(3);
    await turns();
    for (let sends = 0; sends < 3; sends += 1) send();
    const [first, second, third] = hand.connections;
    first?.answer(403);
    t.notOk(first?.isRetired, 'there is no better authorization yet');
    await turns();
    transport.authorize('bearer fresh');
    t.ok(first?.isRetired);
    second?.answer(403);
    t.ok(second?.isRetired);
    third?.answer(200);
    t.notOk(third?.isRetired);
  },
);

t.test('a provider that only ever shuts down costs no storm', async (t) => {
  const hand = handDial(5);
  const { transport, send, outcomes } = transportByHand(t, hand);
  for (let sends = 0; sends < 20; sends += 1) {
    await transport.whenReady();
    send();
    for (let look = 0; look < 20; look += 1) {
      for (const connection of hand.connections) connection.answer(503);
      await nextTurn();
    }
  }
  t.equal(outcomes.length, 20);
  t.ok(hand.connections.length <= 3, `${hand.connections.length} connections`);
});

/**
 * A way to the peer that can begin to swallow everything on the connections it has; new ones pass.
 */
async function startRoad(to: URL) {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(to.port), to.hostname);
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.pipe(into);
      from.on('error', () => undefined);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    swallow: () => {
      for (const socket of sockets) socket.unpipe().resume();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
