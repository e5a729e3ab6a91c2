import { constants } from 'node:http2';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { Outcome } from '../../../src/domain/outcome.ts';
import { APNS_LIMITS } from '../../../src/providers/apns/settings.ts';
import { dial as dialCompat } from '../../../src/transport/compat/dial.ts';
import { dial as dialHttp2 } from '../../../src/transport/http2/dial.ts';
import { ConnectionPool } from '../../../src/transport/pool/connection-pool.ts';
import type { Dial } from '../../../src/transport/provider-connection.ts';
import { ProviderTransport } from '../../../src/transport/provider-transport.ts';
import type {
  RequestTemplate,
  TransportLimits,
  TransportName,
} from '../../../src/transport/transport.ts';
import { TransportMeter } from '../../../src/transport/transport-meter.ts';
import { handDial } from '../../support/hand-dial.ts';
import type { ProviderPeer } from '../../support/provider-peer.ts';
import { answer, refuse, startProviderPeer } from '../../support/provider-peer.ts';

const DIALS: readonly (readonly [TransportName, Dial])[] = [
  ['http2', dialHttp2],
  ['compat', dialCompat],
];

const TEMPLATE: RequestTemplate = {
  tokenIn: 'path',
  pathBefore: '/3/device/',
  bodyBefore: Buffer.from('{}'),
  bodyAfter: Buffer.alloc(0),
  lastingFields: {},
  messageFields: {},
  payloadBytes: 2,
};

class Load {
  readonly transport: ProviderTransport;
  readonly outcomes = new Map<string, Outcome>();
  #next = 0;

  constructor(dial: Dial, peer: ProviderPeer, limits: Partial<TransportLimits>) {
    this.transport = new ProviderTransport(dial, {
      origin: peer.origin,
      ca: peer.ca,
      authorization: 'bearer x',
      limits: { ...APNS_LIMITS, growEveryMs: 20, ...limits },
      admits: null,
      outcomeOf: ({ status }) =>
        status === 200 ? { kind: 'delivered' } : { kind: 'bad-message', reason: String(status) },
    });
  }

  /** Sends as fast as it may; resolves when all have ended. */
  async send(count: number): Promise<void> {
    const { transport, outcomes } = this;
    const settled: Promise<void>[] = [];
    for (let sent = 0; sent < count; sent += 1) {
      while (transport.capacity === 0) await transport.whenReady();
      const token = String(this.#next);
      this.#next += 1;
      settled.push(
        new Promise((resolve) => {
          transport.send(TEMPLATE, token, 0, (_, outcome) => {
            if (outcomes.has(token)) throw new Error(`${token} was settled twice`);
            outcomes.set(token, outcome);
            resolve();
          });
        }),
      );
    }
    await Promise.all(settled);
  }

  count(kind: Outcome['kind']): number {
    return [...this.outcomes.values()].filter((outcome) => outcome.kind === kind).length;
  }
}

const eachOnce = ({ received }: ProviderPeer): boolean =>
  new Set(received.map(({ headers }) => headers[':path'])).size === received.length;

async function until(condition: () => boolean): Promise<void> {
  for (let look = 0; look < 500 && !condition(); look += 1) await sleep(10);
}

for (const [name, dial] of DIALS) {
  t.test(`${name}: more connections where round trips and streams limit it`, async (t) => {
    let most = 0;
    const peer = await startProviderPeer({
      maxConcurrentStreams: 5,
      script: (request) => {
        most = Math.max(most, load.transport.connections);
        setTimeout(answer, 30, request, 200);
      },
    });
    const load = new Load(dial, peer, { connectionsMax: 8 });
    await load.send(1_500);
    t.equal(load.count('delivered'), 1_500);
    t.ok(eachOnce(peer));
    // How many depends on the machine, which may be busy; that it goes on to the limit is the
    // growth's own test.
    t.ok(most > 1 && most <= 8, `${most} of 8 at a time`);
    await load.transport.close();
    await peer.close();
  });

  t.test(`${name}: little traffic stays on one`, async (t) => {
    const peer = await startProviderPeer({ script: (request) => answer(request, 200) });
    const load = new Load(dial, peer, {});
    for (let round = 0; round < 30; round += 1) await load.send(5);
    t.equal(peer.connections(), 1);
    await load.transport.close();
    await peer.close();
  });

  t.test(`${name}: warm before the first send, and spare ones closed after`, async (t) => {
    const peer = await startProviderPeer({ script: (request) => answer(request, 200) });
    // Sweeps follow from it. A busy machine may need 80 ms for an answer.
    const load = new Load(dial, peer, { requestTimeoutMs: 1_000, idleMsMax: 150 });
    load.transport.warm(3);
    await until(() => load.transport.connections === 3);
    t.equal(peer.connections(), 3);
    await load.send(10);
    t.equal(peer.connections(), 3, 'none was opened for them');
    await until(() => peer.sessions.size === 1);
    t.equal(peer.sessions.size, 1, 'one is kept');
    await load.send(10);
    t.equal(load.count('delivered'), 20);
    t.equal(peer.connections(), 3);
    await load.transport.close();
    await peer.close();
  });

  t.test(
    `${name}: those that are closed unused are no failures, and no pause follows`,
    async (t) => {
      const peer = await startProviderPeer({ script: (request) => answer(request, 200) });
      const load = new Load(dial, peer, { requestTimeoutMs: 80, idleMsMax: 150 });
      load.transport.warm(4);
      await until(() => load.transport.connections === 4);
      await until(() => peer.sessions.size === 1);
      load.transport.warm(2);
      await until(() => peer.connections() === 5);
      t.equal(peer.connections(), 5, 'the next one is opened at once');
      await load.transport.close();
      await peer.close();
    },
  );

  t.test(`${name}: an old connection is replaced, and nothing is lost by it`, async (t) => {
    const peer = await startProviderPeer({
      script: (request) => setTimeout(answer, 5, request, 200),
    });
    const load = new Load(dial, peer, { requestTimeoutMs: 1_000, ageMsMax: 300 });
    for (let round = 0; round < 1_000 && peer.connections() < 4; round += 1) await load.send(20);
    t.ok(peer.connections() >= 4, `${peer.connections()} connections`);
    t.equal(load.count('delivered'), load.outcomes.size);
    t.ok(eachOnce(peer));
    await load.transport.close();
    await peer.close();
  });

  t.test(`${name}: told to calm down it does not come back at once`, async (t) => {
    const peer = await startProviderPeer({
      script: ({ session, stream }) => {
        session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, stream.id ?? 0);
        setImmediate(() => session.destroy());
      },
    });
    const load = new Load(dial, peer, { reconnectPauseMs: 60_000, reconnectPauseMsMax: 60_000 });
    await load.send(1);
    await load.send(3);
    t.equal(load.count('unavailable'), 3);
    t.equal(peer.connections(), 1);
    await load.transport.close();
    await peer.close();
  });

  t.test(
    `${name}: down to one stream again, the others refused: all go out, each once`,
    async (t) => {
      const allowed = new Map<object, number>();
      const open = new Map<object, number>();
      const peer = await startProviderPeer({
        maxConcurrentStreams: 1,
        onStream: (stream) => {
          const { session } = stream;
          if (session === undefined) return false;
          const count = (open.get(session) ?? 0) + 1;
          if (count > (allowed.get(session) ?? 1)) {
            refuse(stream);
            return true;
          }
          open.set(session, count);
          return false;
        },
        script: (request) => {
          const { session, number } = request;
          // A rejected push brings the connection down to one stream, the next good one up again.
          const streams = number % 150 === 0 ? 1 : 60;
          if (allowed.get(session) !== streams) session.settings({ maxConcurrentStreams: streams });
          allowed.set(session, streams);
          setTimeout(() => {
            open.set(session, (open.get(session) ?? 1) - 1);
            answer(request, 200);
          }, 3);
        },
      });
      const load = new Load(dial, peer, { refusalsMax: 100, connectionsMax: 2 });
      await load.send(1_000);
      t.equal(load.count('delivered'), 1_000);
      t.ok(eachOnce(peer));
      await load.transport.close();
      await peer.close();
    },
  );

  t.test(`${name}: two GOAWAYs, the first of which only warns`, async (t) => {
    let lastStreamId = 0;
    const peer = await startProviderPeer({
      onStream: ({ session, id }) => {
        if ([...peer.sessions][0] === session) lastStreamId = Math.max(lastStreamId, id ?? 0);
        return false;
      },
      script: (request) => {
        const { session, number } = request;
        if (number === 50) {
          session.goaway(constants.NGHTTP2_NO_ERROR, 2 ** 31 - 1);
          setTimeout(() => session.goaway(constants.NGHTTP2_NO_ERROR, lastStreamId), 10);
        }
        setTimeout(answer, 20, request, 200);
      },
    });
    const load = new Load(dial, peer, {});
    await load.send(300);
    t.equal(load.count('delivered'), 300);
    t.ok(eachOnce(peer));
    await load.transport.close();
    await peer.close();
  });

  t.test(`${name}: a provider that ends every further connection costs no storm`, async (t) => {
    let first: object | null = null;
    const peer = await startProviderPeer({
      maxConcurrentStreams: 2,
      onStream: ({ session }) => {
        first ??= session ?? null;
        if (session === first) return false;
        session?.destroy();
        return true;
      },
      script: (request) => setTimeout(answer, 10, request, 200),
    });
    const load = new Load(dial, peer, { connectionsMax: 8, reconnectPauseMs: 60_000 });
    await load.send(200);
    t.equal(load.outcomes.size, 200);
    t.ok(load.count('delivered') >= 190, `${load.count('delivered')} delivered`);
    t.ok(peer.connections() <= 12, `${peer.connections()} connections`);
    await load.transport.close();
    await peer.close();
  });
}

t.test('a connection that we dismiss unanswered says nothing of the provider', async (t) => {
  const hand = handDial(5);
  const ignored = (): void => undefined;
  const pool = new ConnectionPool(
    hand.dial,
    {
      origin: 'https://127.0.0.1',
      ca: null,
      limits: { ...APNS_LIMITS, idleMsMax: 5 },
      admits: null,
    },
    { freed: ignored, paused: ignored, resumed: ignored },
    new TransportMeter(),
  );
  pool.warm(2);
  while (pool.size < 2) await nextTurn();
  const attempt = { template: TEMPLATE, token: '1', answered: ignored, failed: ignored };
  pool.take()?.start(attempt, 'bearer x', performance.now());
  pool.sweep(performance.now() + 1_000);
  t.equal(pool.size, 1);
  t.notOk(pool.pause.countFruitless(), 'the first that counts');
  pool.close();
  pool.destroy();
});
