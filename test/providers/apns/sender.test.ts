import t from 'tap';
import type { Outcome } from '../../../src/domain/outcome.ts';
import type { ApnsCredential } from '../../../src/providers/apns/credential.ts';
import { createSender } from '../../../src/providers/create-sender.ts';
import { TRANSPORTS } from '../../../src/transport/transport.ts';
import { senderContract } from '../../contract/sender.ts';
import { DEFAULT_ORIGINS } from '../../support/default-origins.ts';
import { apnsCredential } from '../../support/provider-credentials.ts';
import { answer, startProviderPeer } from '../../support/provider-peer.ts';

const credential: ApnsCredential = apnsCredential();

const MESSAGE = {
  notificationId: 'n',
  payload: { title: 'Goal', data: {} },
  expiresAtMs: null,
  dueAtMs: 0,
};

const byText = (one: Outcome, other: Outcome): number =>
  JSON.stringify(one).length - JSON.stringify(other).length;

for (const transport of TRANSPORTS) {
  senderContract(t, {
    name: `apns on ${transport}`,
    make: ({ origin, ca }, limits = {}) =>
      createSender(credential, {
        origins: { ...DEFAULT_ORIGINS, apnsProduction: origin, ca },
        transport,
        authorization: 'bearer first',
        limits,
      }),
    token: (number) => number.toString(16).padStart(64, '0'),
    longToken: () => 'ab'.repeat(512),
    tokenOf: ({ headers }) => String(headers[':path']).slice('/3/device/'.length),
    expiredAuthorization: { status: 403, body: { reason: 'ExpiredProviderToken' } },
  });

  t.test(`apns on ${transport}: a token that is not hex, or too long, is never sent`, async (t) => {
    const peer = await startProviderPeer({ script: (request) => answer(request, 200) });
    const sender = createSender(
      { ...credential, environment: 'sandbox' },
      {
        origins: { ...DEFAULT_ORIGINS, apnsSandbox: peer.origin, ca: peer.ca },
        transport,
        authorization: 'bearer x',
      },
    );
    await sender.whenReady();
    const rendered = sender.render(MESSAGE);
    const outcomes = new Map<number, Outcome>();
    const tooLong = 'ab'.repeat(2_048);
    const tokens = ['abc', '../../etc', 'ab/cd', 'zz', 'ab cd', 'ab\r\nx: y', tooLong, 'AB12'];
    for (const [position, token] of tokens.entries()) {
      sender.send(rendered, token, position, (settled, outcome) => outcomes.set(settled, outcome));
    }
    t.equal(outcomes.size, 0, 'nothing is settled inside send');
    await sender.close();
    t.equal(outcomes.size, tokens.length);
    t.equal(outcomes.get(7)?.kind, 'delivered', 'upper case is hex');
    for (let position = 0; position < 7; position += 1) {
      t.same(outcomes.get(position), {
        kind: 'bad-token',
        reason: 'BadDeviceToken',
        isUnasked: true,
      });
    }
    t.same(
      peer.received.map(({ headers }) => headers[':path']),
      ['/3/device/AB12'],
    );
    await peer.close();
  });

  t.test(`apns on ${transport}: a type with tokens of its own proves nothing`, async (t) => {
    const refusal = { reason: 'DeviceTokenNotForTopic' };
    const peer = await startProviderPeer({ script: (request) => answer(request, 400, refusal) });
    const sender = createSender(
      { ...credential, environment: 'sandbox' },
      {
        origins: { ...DEFAULT_ORIGINS, apnsSandbox: peer.origin, ca: peer.ca },
        transport,
        authorization: 'bearer x',
      },
    );
    await sender.whenReady();
    const outcomes: Outcome[] = [];
    for (const apnsPushType of ['voip', 'alert'] as const) {
      const rendered = sender.render({ ...MESSAGE, payload: { ...MESSAGE.payload, apnsPushType } });
      sender.send(rendered, 'ab12', 0, (_, outcome) => outcomes.push(outcome));
    }
    await sender.close();
    const { reason } = refusal;
    t.strictSame(
      outcomes.toSorted((one, other) => byText(other, one)),
      [
        { kind: 'bad-token', reason, isInconclusive: true },
        { kind: 'bad-token', reason },
      ],
    );
    await peer.close();
  });

  t.test(`apns on ${transport}: what APNs sees`, async (t) => {
    const peer = await startProviderPeer({ script: (request) => answer(request, 200) });
    const sender = createSender(credential, {
      origins: { ...DEFAULT_ORIGINS, apnsProduction: peer.origin, ca: peer.ca },
      transport,
      authorization: 'bearer the-token',
    });
    await sender.whenReady();
    await new Promise((resolve) =>
      sender.send(sender.render(MESSAGE), 'ab12', 0, (_, outcome) => resolve(outcome)),
    );
    const [request] = peer.received;
    t.match(request?.headers, {
      ':method': 'POST',
      ':scheme': 'https',
      ':path': '/3/device/ab12',
      ':authority': new URL(peer.origin).host,
      authorization: 'bearer the-token',
      'apns-topic': 'com.example.news',
      'apns-push-type': 'alert',
      'apns-priority': '10',
    });
    t.notOk(request && 'apns-id' in request.headers);
    t.same(JSON.parse(request?.body ?? ''), {
      aps: { alert: { title: 'Goal' } },
      pushId: 'n',
    });
    await sender.close();
    await peer.close();
  });

  t.test(`apns on ${transport}: Shutdown moves on to another connection`, async (t) => {
    const peer = await startProviderPeer({
      script: (request) =>
        request.number === 1 ? answer(request, 503, { reason: 'Shutdown' }) : answer(request, 200),
    });
    const sender = createSender(credential, {
      origins: { ...DEFAULT_ORIGINS, apnsProduction: peer.origin, ca: peer.ca },
      transport,
      authorization: 'bearer x',
    });
    await sender.whenReady();
    const outcome = await new Promise<Outcome>((resolve) =>
      sender.send(sender.render(MESSAGE), 'ab12', 0, (_, settled) => resolve(settled)),
    );
    t.equal(outcome.kind, 'delivered');
    t.equal(peer.connections(), 2);
    await sender.close();
    await peer.close();
  });

  t.test(`apns on ${transport}: a certificate that nobody vouched for is refused`, async (t) => {
    const peer = await startProviderPeer({ script: (request) => answer(request, 200) });
    const sender = createSender(credential, {
      origins: { ...DEFAULT_ORIGINS, apnsProduction: peer.origin },
      transport,
      authorization: 'bearer x',
    });
    await sender.whenReady();
    const outcome = await new Promise<Outcome>((resolve) =>
      sender.send(sender.render(MESSAGE), 'ab12', 0, (_, settled) => resolve(settled)),
    );
    t.match(outcome, { kind: 'unavailable', reason: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    t.equal(peer.received.length, 0);
    await sender.close();
    await peer.close();
  });
}
