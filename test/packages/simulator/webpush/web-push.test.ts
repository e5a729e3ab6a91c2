/** The simulated push service's answers to every kind of request, right and wrong. */

import type { OutgoingHttpHeaders } from 'node:http2';
import { importJWK, SignJWT } from 'jose';
import t from 'tap';
import type { Simulator } from '../../../../packages/simulator/src/simulator.ts';
import { encrypt, recordOf } from '../../../../src/providers/webpush/encryption.ts';
import { readDevice } from '../../../../src/providers/webpush/subscription.ts';
import { webPushCredential } from '../../../support/provider-credentials.ts';
import type { Reply } from '../peer.ts';
import { ask, control, open, simulate } from '../peer.ts';

const { vapid } = webPushCredential();
const KEYS = vapid ?? { privateKey: '', publicKey: '', subject: '' };

/** A VAPID field; the claims given take the place of what is right. */
async function authorization(simulator: Simulator, claims: object = {}): Promise<string> {
  const point = Buffer.from(KEYS.publicKey, 'base64url');
  const [x, y] = [point.toString('base64url', 1, 33), point.toString('base64url', 33)];
  const jwk = { kty: 'EC', crv: 'P-256', d: KEYS.privateKey, x, y };
  const token = await new SignJWT({
    aud: simulator.webPushOrigin,
    exp: Math.floor(Date.now() / 1_000) + 3_600,
    sub: KEYS.subject,
    ...claims,
  })
    .setProtectedHeader({ typ: 'JWT', alg: 'ES256' })
    .sign(await importJWK(jwk, 'ES256'));
  return `vapid t=${token}, k=${KEYS.publicKey}`;
}

async function subscribe(simulator: Simulator, wish: object = {}) {
  const call = 'POST /webpush/subscriptions';
  const { status, json } = await control<readonly unknown[]>(simulator, call, wish);
  if (status !== 201) throw new Error(`status ${status}`);
  const device = readDevice(JSON.stringify(json[0]), Date.now());
  if (device.kind !== 'subscription') throw new Error(device.kind);
  return device;
}

t.test('a right one is taken, wrong ones are told why', async (t) => {
  const simulator = await simulate(t);
  const session = open(t, simulator, simulator.webPushOrigin);
  const { path, recipient } = await subscribe(simulator);
  const body = encrypt(recordOf(Buffer.from('{"title":"Goal!"}')), recipient);
  const right = {
    ':path': path,
    ttl: '60',
    'content-encoding': 'aes128gcm',
    authorization: await authorization(simulator),
  };
  const send = (headers: OutgoingHttpHeaders = {}, content = body): Promise<Reply> =>
    ask(session, { ...right, ...headers }, content);

  const taken = await send({ urgency: 'very-low', topic: 'a-b_' });
  t.match(taken, { status: 201, body: '' });
  t.match(taken.headers.location, simulator.webPushOrigin);
  const id = path.replace('/push/', '');
  const { json } = await control(simulator, `GET /received/webpush/${id}`);
  t.match(json, { accepted: 1, last: { headers: { ttl: '60' }, payload: { title: 'Goal!' } } });

  const claims = async (change: object) => ({
    authorization: await authorization(simulator, change),
  });
  const now = Math.floor(Date.now() / 1_000);
  const rows: readonly (readonly [headers: OutgoingHttpHeaders, status: number, reason: string])[] =
    [
      [{ ttl: undefined }, 400, 'BadTtl'],
      [{ ttl: 'soon' }, 400, 'BadTtl'],
      [{ urgency: 'now' }, 400, 'BadUrgency'],
      [{ topic: 'x'.repeat(33) }, 400, 'BadWebPushTopic'],
      [{ topic: 'a+b' }, 400, 'BadWebPushTopic'],
      [{ topic: 'abcde' }, 400, 'BadWebPushTopic'],
      [{ 'content-encoding': 'aesgcm' }, 400, 'BadContentEncoding'],
      [{ ':path': '/elsewhere' }, 404, 'BadPath'],
      [{ ':method': 'PUT' }, 405, 'MethodNotAllowed'],
      [{ authorization: undefined }, 401, 'MissingAuthorization'],
      [{ authorization: 'bearer x' }, 403, 'BadJwtToken'],
      [{ authorization: `${right.authorization.slice(0, -4)}` }, 403, 'BadVapidPublicKey'],
      [await claims({ aud: 'https://elsewhere.example' }), 403, 'BadJwtToken'],
      [await claims({ exp: now - 10 }), 403, 'BadJwtToken'],
      [await claims({ exp: now + 90_000 }), 403, 'BadJwtToken'],
      [await claims({ sub: 'somebody' }), 403, 'BadJwtToken'],
    ];
  for (const [headers, status, reason] of rows) {
    const reply = await send(headers);
    t.equal(reply.status, status, reason);
    t.same(JSON.parse(reply.body), { reason });
  }
  const others = webPushCredential().vapid?.publicKey;
  const otherKey = right.authorization.replace(KEYS.publicKey, others ?? '');
  t.match(await send({ authorization: otherKey }), { status: 403, body: /BadJwtToken/ });
  t.match(await send({}, Buffer.alloc(4_097)), { status: 413 });
  t.match(await send({}, Buffer.alloc(80)), { status: 400, body: /BadRecord/ });
  const broken = Buffer.from(body);
  broken[broken.length - 1] = (broken.at(-1) ?? 0) ^ 1;
  t.match(await send({}, broken), { status: 400, body: /BadRecord/ });
});

t.test('a subscription takes the key it was made with', async (t) => {
  const simulator = await simulate(t);
  const session = open(t, simulator, simulator.webPushOrigin);
  const send = async (applicationServerKey: string | undefined): Promise<number> => {
    const { path, recipient } = await subscribe(simulator, { applicationServerKey });
    const headers = {
      ':path': path,
      ttl: '60',
      'content-encoding': 'aes128gcm',
      authorization: await authorization(simulator),
    };
    return (await ask(session, headers, encrypt(recordOf(Buffer.from('x')), recipient))).status;
  };
  t.equal(await send(KEYS.publicKey), 201);
  t.equal(await send(webPushCredential().vapid?.publicKey), 403);
});

t.test('faults, scripts and the book', async (t) => {
  const simulator = await simulate(t);
  const session = open(t, simulator, simulator.webPushOrigin);
  const { recipient } = await subscribe(simulator);
  const body = encrypt(recordOf(Buffer.from('x')), recipient);
  // An endpoint that was not made here: load tests have a million of them.
  const headers = {
    ':path': '/push/some-browser',
    ttl: '0',
    'content-encoding': 'aes128gcm',
    authorization: await authorization(simulator),
  };
  const send = () => ask(session, headers, body);
  t.equal((await send()).status, 201);
  const script = { status: 406, reason: 'Throttled', retryAfterSeconds: 7, times: 1 };
  await control(simulator, 'PUT /tokens/webpush/some-browser', script);
  t.match(await send(), { status: 406, headers: { 'retry-after': '7' }, body: /Throttled/ });
  for (const [share, status] of [
    ['gone', 410],
    ['badToken', 403],
    ['notFound', 404],
    ['throttled', 429],
  ] as const) {
    await control(simulator, 'PUT /behaviour', { shares: { [share]: 1 } });
    t.equal((await send()).status, status, share);
    await control(simulator, 'PUT /behaviour', { shares: { [share]: 0 } });
  }
  const { json } = await control(simulator, 'GET /state');
  t.match(json, {
    webpush: { accepted: 1, tokens: 1, rejected: { Throttled: 1, Unregistered: 1 } },
  });
  await control(simulator, 'POST /reset');
  const { json: empty } = await control(simulator, 'GET /counts/webpush');
  t.same(empty, { tokens: 0, times: {} });
});
