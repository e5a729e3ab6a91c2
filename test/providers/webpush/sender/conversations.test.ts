/**
 * The sender of Web Push in conversation with push services: `node:http2` servers, and the
 * simulator, which reads what it gets.
 */

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { decodeJwt } from 'jose';
import t from 'tap';
import { createCertificate } from '../../../../packages/simulator/src/server/certificate.ts';
import { createSender } from '../../../../src/providers/create-sender.ts';
import { TRANSPORTS } from '../../../../src/transport/transport.ts';
import { control, simulate } from '../../../packages/simulator/peer.ts';
import { DEFAULT_ORIGINS } from '../../../support/default-origins.ts';
import { webPushCredential } from '../../../support/provider-credentials.ts';
import { answer } from '../../../support/provider-peer.ts';
import { originsOf } from '../../../support/sending.ts';
import {
  ANY_SUBSCRIPTION,
  browsers,
  credentialForFcmTokens,
  message,
  peerFor,
  send,
  senderTo,
  subscriptionAt,
} from '../../../support/web-push-sending.ts';

for (const transport of TRANSPORTS) {
  t.test(
    `on ${transport}: a push service without HTTP/2: the sentence says what is missing`,
    async (t) => {
      const { certificatePem: cert, privateKeyPem: key } = await createCertificate('127.0.0.1');
      for (const ALPNProtocols of [['http/1.1'], []]) {
        const server = createTlsServer({ key, cert, ALPNProtocols }, (socket) => socket.resume());
        server.on('tlsClientError', () => undefined);
        server.listen(0, '127.0.0.1');
        await once(server, 'listening');
        const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
        const outcome = await send(
          senderTo(t, [{ origin, ca: cert }], { transport }),
          subscriptionAt(origin),
        );
        t.match(outcome, {
          kind: 'unavailable',
          reason: /has no HTTP\/2, which Tagcast needs: turn it on/,
        });
        server.close();
      }
    },
  );
}

for (const transport of TRANSPORTS) {
  t.test(
    `on ${transport}: Microsoft's service takes any ttl, and its words are read`,
    async (t) => {
      const simulator = await simulate(t, { scenarios: ['edge'] });
      const sender = createSender(webPushCredential(), {
        origins: originsOf(simulator),
        transport,
        authorization: '',
        limits: { drainTimeoutMs: 100 },
      });
      t.teardown(() => sender.close());
      const subscribed = await control<readonly object[]>(
        simulator,
        'POST /webpush/subscriptions',
        {},
      );
      const device = JSON.stringify(subscribed.json[0]);
      const sent = message({ ttlSeconds: 0 });
      const runOut = { ...message({ ttlSeconds: 60 }), dueAtMs: Date.now() - 120_000 };
      for (const one of [sent, runOut, message({ ttlSeconds: 60 }), message()]) {
        t.same(await send(sender, device, one), { kind: 'delivered' });
      }
      const id = String(JSON.parse(device).endpoint).split('/').at(-1);
      await control(simulator, `PUT /tokens/webpush/${id}`, {
        status: 400,
        reason: 'Odd',
        times: 1,
      });
      t.same(await send(sender, device), {
        kind: 'bad-token',
        reason: 'Odd',
        isInconclusive: true,
        unfamiliarStatus: 400,
      });
    },
  );

  t.test(`on ${transport}: what a 201 says of a dropped message is read`, async (t) => {
    const states = ['received', 'dropped'];
    const peer = await peerFor(t, (request) =>
      answer(request, request.number % 2 === 1 ? 200 : 201, undefined, {
        'x-wns-status': states[Math.floor((request.number - 1) / 2)] ?? '',
      }),
    );
    const sender = senderTo(t, [peer], { transport });
    const device = subscriptionAt(peer.origin);
    const kinds: string[] = [];
    for (let n = 0; n < 4; n += 1) kinds.push((await send(sender, device)).kind);
    t.strictSame(kinds, ['delivered', 'delivered', 'bad-token', 'bad-token']);
  });

  t.test(`on ${transport}: a subscription that the browser has removed is gone`, async (t) => {
    const sender = senderTo(t, [], { transport });
    const { keys } = JSON.parse(ANY_SUBSCRIPTION);
    const endpoint = 'https://permanently-removed.invalid/fcm/send/abc';
    t.same(await send(sender, JSON.stringify({ endpoint, keys })), {
      kind: 'gone',
      reason: 'SubscriptionRemoved',
      sinceMs: null,
      isUnasked: true,
    });
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
      const expected = { title: 'Goal!', body: '1:0', tag: 'game', data: { game: 7 }, pushId: 'n' };
      t.same(JSON.parse(String(read)), expected);
    }
    const tokens = new Set(peer.received.map(({ headers }) => headers.authorization));
    t.equal(tokens.size, 1, 'one VAPID token for the origin');
    const [value = ''] = tokens;
    t.match(decodeJwt(value.replace(/^vapid t=|,.*$/g, '')), { aud: peer.origin });
  });
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
  const credential = credentialForFcmTokens();
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
    // An operator would name public services like this; a stranger's DNS answers for the rest.
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
