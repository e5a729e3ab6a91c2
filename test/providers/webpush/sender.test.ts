/**
 * The sender of Web Push in conversation with push services: `node:http2` servers, and the
 * simulator, which reads what it gets.
 */

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { decodeJwt } from 'jose';
import type { Test } from 'tap';
import t from 'tap';
import type { WebPushCredential } from '../../../src/domain/credential.ts';
import type { Message, Payload } from '../../../src/domain/notification.ts';
import type { Outcome } from '../../../src/domain/outcome.ts';
import { createSender } from '../../../src/providers/create-sender.ts';
import { DEFAULT_ORIGINS } from '../../../src/providers/origins.ts';
import type { Sender } from '../../../src/providers/sender.ts';
import { REFUSALS_IN_A_ROW, SERVICES_MAX } from '../../../src/providers/webpush/settings.ts';
import { PushSubscriptions } from '../../../src/simulator/webpush/push-subscriptions.ts';
import type { TransportLimits, TransportName } from '../../../src/transport/transport.ts';
import { TRANSPORTS } from '../../../src/transport/transport.ts';
import { senderContract } from '../../contract/sender.ts';
import { control, simulate } from '../../simulator/peer.ts';
import { until } from '../../support/poll.ts';
import { fcmCredential, webPushCredential } from '../../support/provider-credentials.ts';
import type { ProviderPeer, Script } from '../../support/provider-peer.ts';
import { answer, startProviderPeer } from '../../support/provider-peer.ts';
import { originsOf } from '../../support/sending.ts';

const message = (payload: Partial<Payload> = {}): Message => ({
  notificationId: 'n',
  payload: { title: 'Goal!', message: '1:0', data: { game: 7 }, ...payload },
  expiresAtMs: null,
  dueAtMs: Date.now(),
});

const hostOf = (origin: string): string => new URL(origin).host;

interface SenderOptions {
  readonly transport?: TransportName;
  readonly limits?: Partial<TransportLimits>;
  readonly credential?: WebPushCredential;
}

function senderTo(
  t: Test,
  peers: readonly Pick<ProviderPeer, 'origin' | 'ca'>[],
  { transport = 'http2', limits = {}, credential = webPushCredential() }: SenderOptions = {},
): Sender {
  const sender = createSender(credential, {
    origins: {
      ...DEFAULT_ORIGINS,
      webPushHosts: peers.map(({ origin }) => hostOf(origin)),
      ca: peers.map(({ ca }) => ca).join('\n'),
    },
    transport,
    authorization: '',
    limits: { drainTimeoutMs: 100, ...limits },
  });
  t.teardown(() => sender.close());
  return sender;
}

async function peerFor(t: Test, script: Script): Promise<ProviderPeer> {
  const peer = await startProviderPeer({ script });
  t.teardown(() => peer.close());
  return peer;
}

const browsers = new PushSubscriptions();
const subscriptionAt = (origin: string): string =>
  JSON.stringify(browsers.subscribe(origin, undefined));

const ANY_SUBSCRIPTION = subscriptionAt('https://push.example.com');
/** All of these have the same keys, which cost more than a sender's work. */
const deviceAt = (endpoint: string): string =>
  JSON.stringify({ endpoint, keys: JSON.parse(ANY_SUBSCRIPTION).keys });

/** One send; the caller has nothing else under way. */
async function send(sender: Sender, deviceId: string, of = message()): Promise<Outcome> {
  await sender.whenReady();
  return new Promise((resolve) =>
    sender.send(sender.render(of), deviceId, 0, (_, outcome) => resolve(outcome)),
  );
}

for (const transport of TRANSPORTS) {
  let origin = '';
  senderContract(t, {
    name: `webpush on ${transport}`,
    make: (peer, limits = {}) => {
      origin = peer.origin;
      const credential = webPushCredential();
      const origins = { ...DEFAULT_ORIGINS, webPushHosts: [hostOf(peer.origin)], ca: peer.ca };
      return createSender(credential, { origins, transport, authorization: '', limits });
    },
    token: (number) => deviceAt(`${origin}/push/${number}`),
    longToken: () => deviceAt(`${origin}/push/${'x'.repeat(2_000)}`),
    tokenOf: ({ headers }) => deviceAt(`${origin}${headers[':path']}`),
    expiredAuthorization: null,
  });

  const credential = { kind: 'webpush', vapid: null, ...accountOf() } as const;
  senderContract(t, {
    name: `webpush to FCM tokens on ${transport}`,
    make: (peer, limits = {}) => {
      const origins = { ...DEFAULT_ORIGINS, fcm: peer.origin, ca: peer.ca };
      return createSender(credential, { origins, transport, authorization: 'Bearer x', limits });
    },
    token: (number) => `token:${number}`,
    tokenOf: ({ body }) => JSON.parse(body).message.token,
    expiredAuthorization: {
      status: 401,
      body: { error: { code: 401, status: 'UNAUTHENTICATED' } },
    },
  });

  t.test(`on ${transport}: a real server gets what a browser can read`, async (t) => {
    const peer = await peerFor(t, (request) =>
      answer(request, 201, undefined, { location: '/m/1' }),
    );
    const sender = senderTo(t, [peer], { transport });
    const devices = Array.from({ length: 20 }, () => subscriptionAt(peer.origin));
    for (const device of devices) {
      t.same(await send(sender, device, message({ collapseId: 'game' })), { kind: 'delivered' });
    }
    t.same(
      peer.received.map(({ headers }) => peer.origin + headers[':path']),
      devices.map((device) => JSON.parse(device).endpoint),
    );
    for (const { headers, octets } of peer.received) {
      t.match(headers, {
        ':method': 'POST',
        ttl: '2419200',
        urgency: 'high',
        topic: /^[\w-]{32}$/,
        'content-encoding': 'aes128gcm',
      });
      const read = browsers.read(headers[':path']?.replace('/push/', '') ?? '', octets);
      const expected = { title: 'Goal!', body: '1:0', data: { game: 7 }, pushId: 'n' };
      t.same(JSON.parse(String(read)), expected);
    }
    const tokens = new Set(peer.received.map(({ headers }) => headers.authorization));
    t.equal(tokens.size, 1, 'one VAPID token for the origin');
    const [value = ''] = tokens;
    t.match(decodeJwt(value.replace(/^vapid t=|,.*$/g, '')), { aud: peer.origin });
  });
}

function accountOf() {
  const { serviceAccount } = fcmCredential();
  return { serviceAccount };
}

t.test('the simulator checks all of it, and its browser reads the payload', async (t) => {
  const simulator = await simulate(t);
  const credential = webPushCredential(simulator.accounts.fcm.serviceAccount);
  const sender = createSender(credential, {
    origins: originsOf(simulator),
    transport: 'http2',
    authorization: '',
  });
  t.teardown(() => sender.close());
  const applicationServerKey = credential.vapid?.publicKey;
  const subscribe = async (wish: object): Promise<string> => {
    const { json } = await control<readonly object[]>(
      simulator,
      'POST /webpush/subscriptions',
      wish,
    );
    return JSON.stringify(json[0]);
  };
  const ours = await subscribe({ applicationServerKey });
  t.same(await send(sender, ours, message({ collapseId: 'a b', silent: true })), {
    kind: 'delivered',
  });
  const id = String(JSON.parse(ours).endpoint).replace(/.*\//, '');
  const { json } = await control(simulator, `GET /received/webpush/${id}`);
  t.match(json, {
    accepted: 1,
    last: {
      headers: { urgency: 'low', topic: /^[\w-]{32}$/ },
      payload: { title: 'Goal!', body: '1:0', silent: true, data: { game: 7 } },
    },
  });

  const another = await subscribe({ applicationServerKey: webPushCredential().vapid?.publicKey });
  t.same(await send(sender, another), { kind: 'bad-token', reason: 'VapidPkHashMismatch' });
  await control(simulator, 'PUT /behaviour', { shares: { gone: 1 } });
  t.same(await send(sender, ours), { kind: 'gone', reason: 'Unregistered', sinceMs: null });
  t.same(
    await send(sender, 'an FCM token'),
    { kind: 'expired-authorization', reason: 'NoAccessToken', isOneHost: true },
    'without an access token the main thread is asked for one',
  );
});

t.test('what cannot be sent is not asked about', async (t) => {
  const peer = await peerFor(t, (request) => answer(request, 201));
  const sender = senderTo(t, [peer]);
  const unasked = (reason: string) => ({ kind: 'bad-token', reason, isUnasked: true });
  const at = (origin: string): string =>
    JSON.stringify({ ...JSON.parse(ANY_SUBSCRIPTION), endpoint: `${origin}/push/x` });
  t.same(await send(sender, '{"endpoint":1}'), unasked('BadSubscription'));
  t.same(await send(sender, at('https://push.example.com')), unasked('EndpointNotAllowed'));
  t.same(await send(sender, at('https://127.0.0.1:1')), unasked('EndpointNotAllowed'));
  t.same(await send(sender, 'an FCM token'), unasked('MissingServiceAccount'));
  const expired = { ...JSON.parse(at(peer.origin)), expirationTime: Date.now() - 1 };
  t.same(await send(sender, JSON.stringify(expired)), unasked('SubscriptionExpired'));
  const p256dh = Buffer.alloc(65, 7).fill(4, 0, 1).toString('base64url');
  const offCurve = { ...JSON.parse(at(peer.origin)), keys: { p256dh, auth: 'A'.repeat(22) } };
  t.same(await send(sender, JSON.stringify(offCurve)), unasked('BadSubscription'));
  const credential = { kind: 'webpush', vapid: null, ...accountOf() } as const;
  const withoutKey = senderTo(t, [peer], { credential });
  t.same(await send(withoutKey, at(peer.origin)), unasked('MissingVapidKey'));
  t.equal(peer.received.length, 0);
});

t.test('a name that leads to this machine is not connected to', async (t) => {
  const listener = createServer(() => t.fail('connected'));
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  t.teardown(() => listener.close());
  const { port } = listener.address() as AddressInfo;
  const sender = createSender(webPushCredential(), {
    // As an operator would name public services; a stranger's DNS answers for the rest.
    origins: {
      ...DEFAULT_ORIGINS,
      webPushHosts: ['localhost', '127.0.0.1', '*.localhost.localdomain'],
    },
    transport: 'http2',
    authorization: '',
    limits: { drainTimeoutMs: 100 },
  });
  t.teardown(() => sender.close());
  for (const host of ['localhost', '127.0.0.1']) {
    const outcome = await send(sender, subscriptionAt(`https://${host}`));
    t.match(outcome, {
      kind: /unavailable|refused/,
      reason: new RegExp(`no address of ${host} may be connected to`),
    });
  }
  t.match(await send(sender, subscriptionAt(`https://localhost:${port}`)), {
    reason: 'EndpointNotAllowed',
  });
});

/** Sends to these services in turn as a worker does, and collects how each ended. */
class Round {
  readonly outcomes = new Map<number, Outcome>();
  readonly #sender: Sender;
  #wake: () => void = () => undefined;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  async send(origins: readonly string[], sends: number): Promise<void> {
    const rendered = this.#sender.render(message());
    for (let position = 0; position < sends; ) {
      if (this.#sender.capacity === 0) {
        await this.#sender.whenReady();
        continue;
      }
      const device = deviceAt(`${origins[position % origins.length]}/push/${position}`);
      this.#sender.send(rendered, device, position, (of, outcome) => {
        if (this.outcomes.has(of)) throw new Error(`settled ${of} twice`);
        this.outcomes.set(of, outcome);
        this.#wake();
      });
      position += 1;
    }
  }

  async until(isReached: () => boolean): Promise<void> {
    while (!isReached()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  count(kind: Outcome['kind']): number {
    return [...this.outcomes.values()].filter((outcome) => outcome.kind === kind).length;
  }
}

t.test('a service that answers nothing does not hold up another', async (t) => {
  const silent = await peerFor(t, () => undefined);
  const good = await peerFor(t, (request) => answer(request, 201));
  const sender = senderTo(t, [silent, good]);
  const round = new Round(sender);
  const sends = 6_000;
  await round.send([silent.origin, good.origin], sends);
  await round.until(() => round.count('delivered') === sends / 2);
  t.equal(round.count('unknown'), 0, 'long before the first time-out');
  const left = [...round.outcomes.values()].filter(({ kind }) => kind === 'unavailable');
  t.ok(left.length > 1_000, `${left.length} were not kept waiting for it`);
  t.match(left[0], { reason: 'PushServiceSilent', isOneHost: true });
  await sender.close();
  t.equal(round.outcomes.size, sends, 'each has had its end');
});

t.test('whoever has no turn left in a row of sends has the next one', async (t) => {
  const peers = await Promise.all(
    Array.from({ length: 3 }, () => peerFor(t, (request) => answer(request, 201))),
  );
  const sender = senderTo(t, peers);
  const [first = '', second = '', third = ''] = peers.map(({ origin }) => origin);
  const round = new Round(sender);
  // Connected, so that nothing but its turn is waited for.
  await round.send([first, second, third], 3);
  await round.until(() => round.outcomes.size === 3);
  round.outcomes.clear();
  // The first two are through when the row is: two of its 32 places are left, and ten sends to the
  // third.
  await round.send([first, second, third, third], 40);
  await round.until(() => round.outcomes.size === 40);
  t.equal(round.count('delivered'), 40);
});

t.test('a service that is not there does not stop another', async (t) => {
  const away = await startProviderPeer({ script: () => undefined });
  await away.close();
  const good = await peerFor(t, (request) => answer(request, 201));
  const sender = senderTo(t, [away, good]);
  const round = new Round(sender);
  await round.send([good.origin], 1);
  await round.until(() => round.outcomes.size === 1);
  round.outcomes.clear();
  await round.send([away.origin, good.origin], 1_000);
  await round.until(() => round.outcomes.size === 1_000);
  t.equal(round.count('delivered'), 500);
  const failed = [...round.outcomes.values()].filter(({ kind }) => kind !== 'delivered');
  t.ok(failed.every(({ isOneHost }) => isOneHost));
});

t.test('a failure of the only service is everybody’s', async (t) => {
  const peer = await peerFor(t, (request) => answer(request, 503));
  const outcome = await send(senderTo(t, [peer]), subscriptionAt(peer.origin));
  t.same(outcome, { kind: 'unavailable', reason: 'status 503', retryAfterMs: null });
});

t.test('a key that a service refuses again and again is hardly shown to it any more', async (t) => {
  const refusing = await peerFor(t, (request) => answer(request, 403, { reason: 'BadJwtToken' }));
  const good = await peerFor(t, (request) => answer(request, 201));
  const sender = senderTo(t, [refusing, good]);
  for (let sent = 0; sent < REFUSALS_IN_A_ROW; sent += 1) {
    t.same(await send(sender, subscriptionAt(refusing.origin)), {
      kind: 'bad-credential',
      reason: 'BadJwtToken',
      isOneHost: true,
    });
  }
  for (let sent = 0; sent < 20; sent += 1) {
    t.same(
      await send(sender, subscriptionAt(refusing.origin)),
      { kind: 'unavailable', reason: 'BadJwtToken', retryAfterMs: null, isOneHost: true },
      'whom the service was not asked about is tried again',
    );
  }
  t.equal(refusing.received.length, REFUSALS_IN_A_ROW);
  t.same(await send(sender, subscriptionAt(good.origin)), { kind: 'delivered' });
});

t.test('refusals that anybody can register end nobody else', async (t) => {
  const peer = await peerFor(t, (request) =>
    request.headers[':path']?.startsWith('/bad/')
      ? answer(request, 401, { errno: 107 })
      : answer(request, 201),
  );
  const sender = senderTo(t, [peer]);
  const bad = deviceAt(`${peer.origin}/bad/1`);
  const good = deviceAt(`${peer.origin}/push/1`);
  await send(sender, good);
  for (let sent = 0; sent < REFUSALS_IN_A_ROW * 2; sent += 1) {
    t.match(await send(sender, bad), { kind: 'bad-credential' });
  }
  t.same(await send(sender, good), { kind: 'delivered' }, 'it worked a moment ago');

  const fresh = senderTo(t, [peer]);
  for (let sent = 0; sent < REFUSALS_IN_A_ROW; sent += 1) await send(fresh, bad);
  t.match(await send(fresh, good), { kind: 'unavailable' }, 'nothing is known of it yet');
  await until('it is tried again', async () =>
    (await send(fresh, good)).kind === 'delivered' ? true : null,
  );
  for (let sent = 0; sent < REFUSALS_IN_A_ROW * 2; sent += 1) await send(fresh, bad);
  t.same(await send(fresh, good), { kind: 'delivered' });
});

t.test('one message: subscriptions that answer for it end nobody else', async (t) => {
  const peer = await peerFor(t, (request) =>
    request.headers[':path']?.startsWith('/bad/') ? answer(request, 405) : answer(request, 201),
  );
  const sender = senderTo(t, [peer]);
  const rendered = sender.render(message());
  const sendIt = (path: string): Promise<Outcome> =>
    new Promise((resolve) =>
      sender.send(rendered, deviceAt(`${peer.origin}${path}`), 0, (_, outcome) => resolve(outcome)),
    );
  for (let sent = 0; sent < REFUSALS_IN_A_ROW; sent += 1) {
    t.match(await sendIt('/bad/1'), { kind: 'bad-message' });
  }
  t.match(await sendIt('/push/1'), { kind: 'unavailable', isOneHost: true });
  await until('it is tried again', async () =>
    (await sendIt('/push/1')).kind === 'delivered' ? true : null,
  );
  for (let sent = 0; sent < REFUSALS_IN_A_ROW * 2; sent += 1) await sendIt('/bad/1');
  t.same(await sendIt('/push/1'), { kind: 'delivered' }, 'somebody has it: the message is good');
});

t.test('one subscription of another key says nothing of the others', async (t) => {
  const peer = await peerFor(t, (request) =>
    request.number % 2 === 0 ? answer(request, 201) : answer(request, 401, { errno: 109 }),
  );
  const sender = senderTo(t, [peer]);
  const sends = REFUSALS_IN_A_ROW * 4;
  for (let sent = 0; sent < sends; sent += 1) await send(sender, subscriptionAt(peer.origin));
  t.equal(peer.received.length, sends, 'all of them were asked about');
});

t.test('a message that a service refuses is not repeated there; the next one is', async (t) => {
  const peer = await peerFor(t, (request) =>
    request.headers['urgency'] === 'normal'
      ? answer(request, 400, { reason: 'BadUrgency' })
      : answer(request, 201),
  );
  const sender = senderTo(t, [peer]);
  const round = async (of: Message, sends: number): Promise<readonly Outcome[]> => {
    const rendered = sender.render(of);
    const outcomes: Outcome[] = [];
    for (let sent = 0; sent < sends; sent += 1) {
      const outcome = await new Promise<Outcome>((resolve) =>
        sender.send(rendered, subscriptionAt(peer.origin), sent, (_, settled) => resolve(settled)),
      );
      outcomes.push(outcome);
    }
    return outcomes;
  };
  const refused = await round(message({ priority: 'normal' }), REFUSALS_IN_A_ROW + 5);
  t.ok(refused.every(({ isOneHost }) => isOneHost));
  t.same(
    refused.map(({ kind }) => kind),
    [
      ...Array.from({ length: REFUSALS_IN_A_ROW }, () => 'bad-message'),
      ...Array.from({ length: 5 }, () => 'unavailable'),
    ],
  );
  t.equal(peer.received.length, REFUSALS_IN_A_ROW);
  t.match(await round(message(), 2), [{ kind: 'delivered' }, { kind: 'delivered' }]);
});

t.test('more services than it keeps connections to', async (t) => {
  const ports = Array.from({ length: SERVICES_MAX + 10 }, (_, index) => 60_000 + index);
  const nobody = ports.map((port) => ({ origin: `https://localhost:${port}`, ca: '' }));
  const peer = await peerFor(t, (request) => answer(request, 201));
  const sender = senderTo(t, [peer, ...nobody], { limits: { connectTimeoutMs: 2_000 } });
  for (const { origin } of nobody) {
    t.not((await send(sender, subscriptionAt(origin))).kind, 'delivered');
  }
  t.match(await send(sender, subscriptionAt(peer.origin)), { kind: 'delivered' });
});
