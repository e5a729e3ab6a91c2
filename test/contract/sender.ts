/**
 * The contract of every sender, whatever carries its requests: each send is settled exactly once,
 * never from inside `send`, the provider's stream limit is never broken, and nothing is lost when
 * the connection is.
 */

import { constants } from 'node:http2';
import type { Test } from 'tap';
import type { Message } from '../../src/domain/notification.ts';
import type { Outcome } from '../../src/domain/outcome.ts';
import type { Sender } from '../../src/providers/sender.ts';
import type { TransportLimits } from '../../src/transport/transport.ts';
import type { ProviderPeer, ReceivedRequest } from '../support/provider-peer.ts';
import { answer, refuse, startProviderPeer } from '../support/provider-peer.ts';

export interface SenderSubject {
  readonly name: string;
  make(peer: Pick<ProviderPeer, 'origin' | 'ca'>, limits?: Partial<TransportLimits>): Sender;
  /** A token that this provider takes, different for each number. */
  token(number: number): string;
  /** One of some thousand characters, where repeating one does not make it. */
  longToken?(): string;
  /** The token that a request was for. */
  tokenOf(request: ReceivedRequest): string;
  /** Null: its authorization does not come from outside. */
  readonly expiredAuthorization: { readonly status: number; readonly body: unknown } | null;
}

/**
 * Where connections are counted: on a slow machine the pool would grow before the test is through.
 */
const ONE_CONNECTION: Partial<TransportLimits> = { connectionsMax: 1 };

const MESSAGE: Message = {
  notificationId: 'a notification',
  payload: { title: 'Goal', message: '1:0', data: {} },
  expiresAtMs: null,
  dueAtMs: Date.now(),
};

export function senderContract(t: Test, subject: SenderSubject): void {
  t.test(`${subject.name}: delivers 5,000 within the peer's limit, each once`, async (t) => {
    const peer = await startProviderPeer({
      maxConcurrentStreams: 40,
      script: (request) => setImmediate(answer, request, 200),
    });
    const sender = subject.make(peer, ONE_CONNECTION);
    const run = new Run(subject, sender);
    await run.send(5_000);
    t.equal(run.count('delivered'), 5_000);
    t.same(run.violations, []);
    t.equal(new Set(peer.received.map(subject.tokenOf)).size, 5_000);
    t.equal(peer.received.length, 5_000);
    t.ok(peer.streamsOpenMax() <= 40, `at most ${peer.streamsOpenMax()} streams were open`);
    t.equal(peer.connections(), 1, 'one connection for all of them');
    await end(sender, peer);
  });

  t.test(`${subject.name}: a limit lowered and raised while it sends`, async (t) => {
    const peer = await startProviderPeer({
      maxConcurrentStreams: 50,
      script: (request) => {
        if (request.number === 500) {
          request.session.settings({ maxConcurrentStreams: 2 });
        }
        if (request.number === 700) {
          request.session.settings({ maxConcurrentStreams: 80 });
        }
        setImmediate(answer, request, 200);
      },
    });
    const sender = subject.make(peer, ONE_CONNECTION);
    const run = new Run(subject, sender);
    await run.send(1_500);
    t.equal(run.count('delivered'), 1_500);
    t.same(run.violations, []);
    // nghttp2, on the peer's side, ends the connection of a client that breaks an acknowledged
    // limit.
    t.equal(peer.connections(), 1);
    await end(sender, peer);
  });

  t.test(`${subject.name}: GOAWAY again and again loses nothing and repeats nothing`, async (t) => {
    const lastIds = new Map<unknown, number>();
    const peer = await startProviderPeer({
      // Streams above the last id are not looked at, as GOAWAY says; `node:http2` hands them over
      // all the same.
      onStream: ({ session, id = 0 }) => id > (lastIds.get(session) ?? id),
      script: (request) => {
        if (request.number % 200 === 0) {
          const { session, stream } = request;
          lastIds.set(session, stream.id ?? 0);
          session.goaway(constants.NGHTTP2_NO_ERROR, stream.id);
        }
        if (!request.session.destroyed) setImmediate(answer, request, 200);
      },
    });
    const sender = subject.make(peer);
    const run = new Run(subject, sender);
    await run.send(1_000);
    t.same(run.violations, []);
    t.equal(run.count('delivered'), 1_000);
    t.equal(peer.received.length, 1_000);
    t.equal(new Set(peer.received.map(subject.tokenOf)).size, 1_000);
    t.ok(peer.connections() > 4, `${peer.connections()} connections`);
    await end(sender, peer);
  });

  t.test(
    `${subject.name}: GOAWAY with an error: above its last id sent again, below it unknown`,
    async (t) => {
      const held: ReceivedRequest[] = [];
      let hasGone = false;
      const peer = await startProviderPeer({
        script: (request) => {
          if (hasGone) {
            answer(request, 200);
            // The answers that the first connection still owed will never come.
            if (peer.received.length === 16) held[0]?.session.destroy();
            return;
          }
          held.push(request);
          if (held.length < 10) return;
          hasGone = true;
          const fourth = held[3]?.stream.id;
          request.session.goaway(constants.NGHTTP2_INTERNAL_ERROR, fourth, Buffer.from('{}'));
        },
      });
      const sender = subject.make(peer);
      const run = new Run(subject, sender);
      await run.send(10);
      t.same(run.violations, []);
      t.equal(run.count('unknown'), 4);
      t.equal(run.count('delivered'), 6);
      await end(sender, peer);
    },
  );

  t.test(`${subject.name}: REFUSED_STREAM is tried again`, async (t) => {
    let streams = 0;
    const peer = await startProviderPeer({
      onStream: (stream) => {
        streams += 1;
        if (streams % 3 !== 0) return false;
        refuse(stream);
        return true;
      },
      script: (request) => answer(request, 200),
    });
    const sender = subject.make(peer, { refusalsMax: 50 });
    const run = new Run(subject, sender);
    await run.send(300);
    t.same(run.violations, []);
    t.equal(run.count('delivered'), 300);
    t.equal(peer.received.length, 300);
    await end(sender, peer);
  });

  t.test(
    `${subject.name}: a provider that refuses everything is asked a bounded number of times`,
    async (t) => {
      let streams = 0;
      const peer = await startProviderPeer({
        onStream: (stream) => {
          streams += 1;
          refuse(stream);
          return true;
        },
        script: () => undefined,
      });
      const sender = subject.make(peer, { refusalsMax: 3 });
      const run = new Run(subject, sender);
      await run.send(20);
      t.same(run.violations, []);
      t.equal(run.count('refused'), 20);
      t.equal(streams, 80);
      await end(sender, peer);
    },
  );

  t.test(`${subject.name}: silent streams end as unknown, the others go on`, async (t) => {
    const peer = await startProviderPeer({
      script: (request) => {
        if (request.number % 10 !== 0) answer(request, 200);
      },
    });
    const sender = subject.make(peer, { ...ONE_CONNECTION, requestTimeoutMs: 1_500 });
    const run = new Run(subject, sender);
    await run.send(500);
    t.same(run.violations, []);
    t.equal(run.count('unknown'), 50);
    t.equal(run.count('delivered'), 450);
    t.equal(peer.connections(), 1, 'silent streams do not cost the connection');
    await end(sender, peer);
  });

  t.test(`${subject.name}: a connection killed in the middle`, async (t) => {
    const peer = await startProviderPeer({
      script: (request) => {
        if (request.number === 150) peer.cut();
        else setImmediate(answer, request, 200);
      },
    });
    const sender = subject.make(peer, ONE_CONNECTION);
    const run = new Run(subject, sender);
    await run.send(600);
    t.same(run.violations, []);
    t.ok(run.count('unknown') >= 1);
    t.equal(run.count('delivered') + run.count('unknown') + run.count('refused'), 600);
    t.equal(peer.connections(), 2);
    await end(sender, peer);
  });

  t.test(`${subject.name}: a provider that hangs up in the middle`, async (t) => {
    const peer = await startProviderPeer({
      script: (request) => {
        if (request.number === 150) peer.hangUp();
        else setImmediate(answer, request, 200);
      },
    });
    const sender = subject.make(peer, ONE_CONNECTION);
    const run = new Run(subject, sender);
    await run.send(600);
    t.same(run.violations, []);
    t.ok(run.count('unknown') >= 1);
    t.equal(run.count('delivered') + run.count('unknown') + run.count('refused'), 600);
    t.equal(peer.connections(), 2);
    await end(sender, peer);
  });

  t.test(`${subject.name}: header tables made smaller and larger while it sends`, async (t) => {
    const sizes = new Map([
      [200, 0],
      [400, 4_096],
      [600, 120],
      [800, 65_536],
    ]);
    const peer = await startProviderPeer({
      script: (request) => {
        const headerTableSize = sizes.get(request.number);
        if (headerTableSize !== undefined) request.session.settings({ headerTableSize });
        setImmediate(answer, request, 200);
      },
    });
    const sender = subject.make(peer, ONE_CONNECTION);
    const run = new Run(subject, sender);
    await run.send(1_000);
    t.equal(run.count('delivered'), 1_000);
    t.equal(new Set(peer.received.map(subject.tokenOf)).size, 1_000);
    const fieldsOf = ({ headers }: ReceivedRequest) => ({ ...headers, ':path': '' });
    const [first, ...others] = peer.received;
    if (first === undefined) throw new Error('nothing was received');
    for (const request of others) t.same(fieldsOf(request), fieldsOf(first));
    t.equal(peer.connections(), 1);
    await end(sender, peer);
  });

  t.test(`${subject.name}: windows smaller than a request`, async (t) => {
    const peer = await startProviderPeer({
      initialWindowSize: 20,
      script: (request) => answer(request, 200),
    });
    const sender = subject.make(peer);
    const run = new Run(subject, sender);
    await run.send(300);
    t.equal(run.count('delivered'), 300);
    const [body = ''] = peer.received.map((request) => request.body);
    t.ok(body.length > 20);
    t.equal(new Set(peer.received.map(subject.tokenOf)).size, 300);
    t.same(run.violations, []);
    await end(sender, peer);
  });

  t.test(`${subject.name}: a token of some thousand characters`, async (t) => {
    const peer = await startProviderPeer({ script: (request) => answer(request, 200) });
    const sender = subject.make(peer);
    const long = subject.longToken?.() ?? subject.token(7).repeat(200);
    const token = (number: number) => (number === 1 ? long : subject.token(0));
    const run = new Run({ ...subject, token }, sender);
    await run.send(3);
    t.equal(run.count('delivered'), 3);
    t.ok(peer.received.map(subject.tokenOf).includes(long));
    await end(sender, peer);
  });

  t.test(`${subject.name}: a 200 that breaks off is a 200`, async (t) => {
    const peer = await startProviderPeer({
      script: ({ stream }) => {
        stream.respond({ ':status': 200 });
        stream.write('{"name":', () => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
      },
    });
    const sender = subject.make(peer);
    const run = new Run(subject, sender);
    await run.send(20);
    t.equal(run.count('delivered'), 20);
    await end(sender, peer);
  });

  t.test(`${subject.name}: a provider that is not there costs no storm`, async (t) => {
    const peer = await startProviderPeer({ script: () => undefined });
    await peer.close();
    const sender = subject.make(peer, { reconnectPauseMs: 60_000, reconnectPauseMsMax: 60_000 });
    const run = new Run(subject, sender);
    await run.send(5);
    t.same(run.violations, []);
    t.equal(run.count('unavailable'), 5);
    const [outcome] = run.outcomes.values();
    t.match(outcome, { reason: 'ECONNREFUSED' });
    t.ok(
      outcome?.kind === 'unavailable' && (outcome.retryAfterMs ?? 0) > 20_000,
      'it says when the next attempt may be',
    );
    await sender.close();
  });

  t.test(`${subject.name}: finds the provider again when it comes back`, async (t) => {
    let isWell = false;
    const peer = await startProviderPeer({
      onStream: () => {
        if (!isWell) peer.cut();
        return !isWell;
      },
      script: (request) => answer(request, 200),
    });
    const sender = subject.make(peer, { reconnectPauseMs: 20, reconnectPauseMsMax: 40 });
    const run = new Run(subject, sender);
    for (let sends = 0; sends < 10; sends += 1) await run.send(1);
    t.equal(run.count('delivered'), 0);
    t.ok(run.count('unavailable') > 0, 'connections that answer nothing are paused after');
    isWell = true;
    // A pause may still be on: every send before it ends gets it.
    while (run.count('delivered') < 5) await run.send(5);
    t.same(run.violations, []);
    await end(sender, peer);
  });

  t.test(`${subject.name}: close() lets what is under way settle`, async (t) => {
    const peer = await startProviderPeer({
      script: (request) => setTimeout(answer, 50, request, 200),
    });
    const sender = subject.make(peer);
    const run = new Run(subject, sender);
    await run.start(100);
    await sender.close();
    t.equal(run.count('delivered'), 100);
    t.same(run.violations, []);
    t.equal(sender.capacity, 0);
    await sender.whenReady();
    await peer.close();
  });

  t.test(
    `${subject.name}: close() waits no longer than its bound, and the rest is unknown`,
    async (t) => {
      const peer = await startProviderPeer({ script: () => undefined });
      const sender = subject.make(peer, { drainTimeoutMs: 50 });
      const run = new Run(subject, sender);
      await run.start(30);
      await sender.close();
      t.equal(run.count('unknown'), 30);
      t.same(run.violations, []);
      await peer.close();
    },
  );

  t.test(`${subject.name}: close() while connecting`, async (t) => {
    const peer = await startProviderPeer({ script: () => undefined });
    const sender = subject.make(peer);
    const ready = sender.whenReady();
    await sender.close();
    await ready;
    t.equal(sender.capacity, 0);
    await peer.close();
  });

  const { expiredAuthorization } = subject;
  if (expiredAuthorization !== null) authorizationContract(t, subject, expiredAuthorization);
}

function authorizationContract(
  t: Test,
  subject: SenderSubject,
  { status, body }: NonNullable<SenderSubject['expiredAuthorization']>,
): void {
  t.test(`${subject.name}: carries a fresh authorization from the next send on`, async (t) => {
    const peer = await startProviderPeer({ script: (request) => answer(request, 200) });
    const sender = subject.make(peer, ONE_CONNECTION);
    const run = new Run(subject, sender);
    await run.send(1);
    sender.authorize('bearer fresh');
    await run.send(1);
    t.not(peer.received[0]?.headers.authorization, 'bearer fresh');
    t.equal(peer.received[1]?.headers.authorization, 'bearer fresh');
    t.equal(peer.connections(), 1, 'a connection without streams is kept');
    await end(sender, peer);
  });

  t.test(
    `${subject.name}: after an expired authorization, a new one on a new connection`,
    async (t) => {
      const peer = await startProviderPeer({
        script: (request) =>
          request.headers.authorization === 'bearer fresh'
            ? answer(request, 200)
            : answer(request, status, body),
      });
      const sender = subject.make(peer, ONE_CONNECTION);
      const run = new Run(subject, sender);
      await run.send(1);
      t.equal(run.count('expired-authorization'), 1);
      sender.authorize('bearer fresh');
      await run.send(1);
      t.equal(run.count('delivered'), 1);
      t.equal(peer.connections(), 2);
      await end(sender, peer);
    },
  );

  t.test(`${subject.name}: answers in pieces of an octet`, async (t) => {
    const peer = await startProviderPeer({
      script: ({ stream }) => {
        stream.respond({ ':status': status });
        for (const character of JSON.stringify(body)) stream.write(character);
        stream.end();
      },
    });
    const sender = subject.make(peer);
    const run = new Run(subject, sender);
    await run.send(20);
    t.equal(run.count('expired-authorization'), 20);
    await end(sender, peer);
  });
}

async function end(sender: Sender, peer: ProviderPeer): Promise<void> {
  await sender.close();
  await peer.close();
}

/** Sends as a worker does, obeying `capacity`, and keeps the books. */
class Run {
  readonly outcomes = new Map<number, Outcome>();
  /** Broken promises, in words. */
  readonly violations: string[] = [];
  readonly #subject: SenderSubject;
  readonly #sender: Sender;
  readonly #settled: () => void;
  #wake: () => void = () => undefined;
  #sent = 0;
  #isSending = false;

  constructor(subject: SenderSubject, sender: Sender) {
    this.#subject = subject;
    this.#sender = sender;
    this.#settled = () => this.#wake();
  }

  /** Sends so many and waits until all are settled. */
  async send(devices: number): Promise<void> {
    await this.start(devices);
    while (this.outcomes.size < this.#sent) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Sends so many as the sender has room for them, and returns with the last ones under way. */
  async start(devices: number): Promise<void> {
    const rendered = this.#sender.render(MESSAGE);
    for (let left = devices; left > 0; ) {
      if (this.#sender.capacity === 0) {
        await this.#sender.whenReady();
        continue;
      }
      const position = this.#sent;
      this.#sent += 1;
      left -= 1;
      this.#isSending = true;
      this.#sender.send(rendered, this.#subject.token(position), position, this.#settle);
      this.#isSending = false;
    }
  }

  count(kind: Outcome['kind']): number {
    return [...this.outcomes.values()].filter((outcome) => outcome.kind === kind).length;
  }

  readonly #settle = (position: number, outcome: Outcome): void => {
    if (this.#isSending) this.violations.push(`settled ${position} from inside send`);
    if (this.outcomes.has(position)) this.violations.push(`settled ${position} twice`);
    this.outcomes.set(position, outcome);
    this.#settled();
  };
}
