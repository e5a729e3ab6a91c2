import t from 'tap';
import type { Outcome } from '../../../src/domain/outcome.ts';
import { createSender } from '../../../src/providers/create-sender.ts';
import type { FcmCredential } from '../../../src/providers/fcm/credential.ts';
import type { FcmTarget } from '../../../src/providers/fcm/target.ts';
import { TRANSPORTS } from '../../../src/transport/transport.ts';
import { senderContract } from '../../contract/sender.ts';
import { DEFAULT_ORIGINS } from '../../support/default-origins.ts';
import { fcmCredential } from '../../support/provider-credentials.ts';
import { answer, startProviderPeer } from '../../support/provider-peer.ts';

const credential: FcmCredential = fcmCredential();

for (const transport of TRANSPORTS) {
  senderContract(t, {
    name: `fcm on ${transport}`,
    make: ({ origin, ca }, limits = {}) =>
      createSender(credential, {
        origins: { ...DEFAULT_ORIGINS, fcm: origin, ca },
        transport,
        authorization: 'Bearer first',
        limits,
      }),
    token: (number) => `token:${number}`,
    tokenOf: ({ body }) => JSON.parse(body).message.token,
    expiredAuthorization: {
      status: 401,
      body: { error: { code: 401, status: 'UNAUTHENTICATED' } },
    },
  });

  t.test(`fcm on ${transport}: any token reaches FCM as that token and adds nothing`, async (t) => {
    const peer = await startProviderPeer({
      script: (request) => answer(request, 200, { name: 'projects/news-project/messages/1' }),
    });
    const sender = createSender(credential, {
      origins: { ...DEFAULT_ORIGINS, fcm: peer.origin, ca: peer.ca },
      transport,
      authorization: 'Bearer x',
    });
    const tokens = [
      'plain:APA91b-_',
      'quote " quote',
      'back\\slash \\" \\u0022',
      '","topic":"all","x":"',
      '"},"validateOnly":true,"y":{"z":"',
      'line\nbreak\ttab\u0001',
      'ünïcödé 🎯 \u2028\u2029',
      '</script>',
      '$& $1 %s',
    ];
    await sender.whenReady();
    const rendered = sender.render({
      notificationId: 'n',
      payload: { title: 'Goal', message: '1:0', data: { a: 1 } },
      expiresAtMs: null,
      dueAtMs: 0,
    });
    const outcomes = new Map<number, Outcome>();
    for (const [position, token] of tokens.entries()) {
      sender.send(rendered, token, position, (settled, outcome) => outcomes.set(settled, outcome));
    }
    await sender.close();
    t.equal(outcomes.size, tokens.length);
    t.equal(peer.received.length, tokens.length);
    for (const { headers, body } of peer.received) {
      const index = tokens.indexOf(JSON.parse(body).message.token);
      t.ok(index >= 0, 'the token is one of ours, unchanged');
      t.same(JSON.parse(body), {
        message: {
          token: tokens[index],
          notification: { title: 'Goal', body: '1:0' },
          data: { title: 'Goal', message: '1:0', a: '1', pushId: 'n' },
          android: { notification: { tag: 'n' } },
        },
      });
      t.match(headers, {
        ':method': 'POST',
        ':path': '/v1/projects/news-project/messages:send',
        'content-type': 'application/json',
        authorization: 'Bearer x',
      });
      tokens.splice(index, 1);
    }
    t.same(tokens, []);
    await peer.close();
  });

  t.test(
    `fcm on ${transport}: an installation id goes out as fid, all else as token`,
    async (t) => {
      const installation = 'dRh8_-aBcDeFgHiJkLmNoP';
      const others = [
        `${installation}:APA91b-x_y`,
        'bRh8_-aBcDeFgHiJkLmNoP',
        'gRh8_-aBcDeFgHiJkLmNoP',
        `${installation}x`,
        installation.slice(1),
        'dRh8:-aBcDeFgHiJkLmNoP',
        'dRh8+/aBcDeFgHiJkLmNoP',
      ];
      const sent = async (fcmTarget: FcmTarget) => {
        const peer = await startProviderPeer({ script: (request) => answer(request, 200, {}) });
        const sender = createSender(credential, {
          origins: { ...DEFAULT_ORIGINS, fcm: peer.origin, ca: peer.ca, fcmTarget },
          transport,
          authorization: 'Bearer x',
        });
        await sender.whenReady();
        const rendered = sender.render({
          notificationId: 'n',
          payload: { data: {} },
          expiresAtMs: null,
          dueAtMs: 0,
        });
        // One after the other and back again: neither form may be kept for the next device.
        for (const [position, deviceId] of [installation, ...others, installation].entries()) {
          sender.send(rendered, deviceId, position, () => undefined);
        }
        await sender.close();
        const messages = peer.received.map(({ body }) => JSON.parse(body).message);
        await peer.close();
        for (const { data } of messages) t.same(data, { pushId: 'n' });
        return {
          fid: messages.map(({ fid }) => fid).filter((fid) => fid !== undefined),
          token: messages.map(({ token }) => token).filter((token) => token !== undefined),
          both: messages.filter(({ fid, token }) => fid !== undefined && token !== undefined)
            .length,
        };
      };
      t.same(await sent('auto'), { fid: [installation, installation], token: others, both: 0 });
      const all = [installation, ...others, installation];
      t.same(await sent('token'), { fid: [], token: all, both: 0 });
      t.same(await sent('fid'), { fid: all, token: [], both: 0 });
    },
  );

  t.test(
    `fcm on ${transport}: the answer in DATA and an empty DATA, as FCM sends it`,
    async (t) => {
      const peer = await startProviderPeer({
        script: ({ stream }) => {
          stream.respond({ ':status': 200 });
          stream.write('{"name":"projects/p/messages/1"}', () => stream.end());
        },
      });
      const sender = createSender(credential, {
        origins: { ...DEFAULT_ORIGINS, fcm: peer.origin, ca: peer.ca },
        transport,
        authorization: 'Bearer x',
      });
      await sender.whenReady();
      const rendered = sender.render({
        notificationId: 'n',
        payload: { data: {} },
        expiresAtMs: null,
        dueAtMs: 0,
      });
      const outcome = await new Promise<Outcome>((resolve) =>
        sender.send(rendered, 'token', 0, (_, settled) => resolve(settled)),
      );
      t.equal(outcome.kind, 'delivered');
      t.equal(peer.received[0]?.body, '{"message":{"token":"token","data":{"pushId":"n"}}}');
      await sender.close();
      await peer.close();
    },
  );

  t.test(
    `fcm on ${transport}: a refusal with a huge body is understood by its status`,
    async (t) => {
      const peer = await startProviderPeer({
        script: (request) => answer(request, 503, 'x'.repeat(200_000), { 'retry-after': '7' }),
      });
      const sender = createSender(credential, {
        origins: { ...DEFAULT_ORIGINS, fcm: peer.origin, ca: peer.ca },
        transport,
        authorization: 'Bearer x',
      });
      await sender.whenReady();
      const rendered = sender.render({
        notificationId: 'n',
        payload: { data: {} },
        expiresAtMs: null,
        dueAtMs: 0,
      });
      const outcome = await new Promise<Outcome>((resolve) =>
        sender.send(rendered, 'token', 0, (_, settled) => resolve(settled)),
      );
      t.match(outcome, { kind: 'unavailable', reason: 'status 503', retryAfterMs: 7_000 });
      await sender.close();
      await peer.close();
    },
  );
}
