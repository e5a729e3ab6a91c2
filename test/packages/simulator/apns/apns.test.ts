/** APNs' answers to every kind of request, right and wrong. */

import { generateKeyPairSync } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http2';
import t from 'tap';
import { AccountBook } from '../../../../packages/simulator/src/account-book.ts';
import { createAccounts } from '../../../../packages/simulator/src/accounts.ts';
import { createApns } from '../../../../packages/simulator/src/apns/apns.ts';
import { KIND_BEHAVIOUR } from '../../../../packages/simulator/src/faults/behaviour.ts';
import { Scripts } from '../../../../packages/simulator/src/faults/scripts.ts';
import type { LiveBehaviour } from '../../../../packages/simulator/src/options.ts';
import { ProviderRecord } from '../../../../packages/simulator/src/record/record.ts';
import { ConnectionMemory } from '../../../../packages/simulator/src/server/connection-memory.ts';
import { recurringField } from '../../../../packages/simulator/src/server/fields.ts';
import { apnsHeaders, apnsToken, ask, control, open, providerToken, simulate } from '../peer.ts';

const TOKEN = apnsToken(1);
const BODY = '{"aps":{"alert":"Goal!"}}';
const HOUR_SECONDS = 3_600;
const ANY_UUID = /^[0-9a-f-]{36}$/;
const EITHER_SERVER_ERROR = /^(?:InternalServerError|ServiceUnavailable)$/;

t.test('every fault gets its own reason', async (t) => {
  const simulator = await simulate(t);
  const { accounts } = simulator;
  const { bundleId } = accounts.apns;
  const right = await apnsHeaders(accounts, TOKEN);
  const now = Math.floor(Date.now() / 1_000);
  const foreign = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const forged = {
    ...accounts,
    apns: {
      ...accounts.apns,
      privateKey: foreign.export({ type: 'pkcs8', format: 'pem' }).toString(),
    },
  };
  const bearer = async (token: Promise<string>) => ({ authorization: `bearer ${await token}` });
  const background = { 'apns-push-type': 'background', 'apns-priority': '5' };
  const oversized = JSON.stringify({ aps: {}, filler: 'x'.repeat(4_096) });

  const faults: readonly [
    status: number,
    reason: string,
    name: string,
    headers: OutgoingHttpHeaders,
    body?: string,
  ][] = [
    [404, 'BadPath', 'another path', { ':path': '/4/device/x' }],
    [405, 'MethodNotAllowed', 'another method', { ':method': 'PUT' }],
    [400, 'DuplicateHeaders', 'a header twice', { 'apns-topic': [bundleId, bundleId] }],
    [400, 'MissingDeviceToken', 'no token', { ':path': '/3/device/' }],
    [400, 'BadDeviceToken', 'a short token', { ':path': '/3/device/abcdef' }],
    [400, 'BadDeviceToken', 'a token of odd length', { ':path': `/3/device/${TOKEN}a` }],
    [400, 'BadDeviceToken', 'not hex', { ':path': `/3/device/${'z'.repeat(64)}` }],
    [403, 'MissingProviderToken', 'no authorization', { authorization: undefined }],
    [403, 'MissingProviderToken', 'another scheme', { authorization: 'Basic eDp5' }],
    [403, 'InvalidProviderToken', 'no JWT', { authorization: 'bearer nonsense' }],
    [
      403,
      'InvalidProviderToken',
      'an unknown key',
      await bearer(providerToken(accounts, { keyId: 'OTHER' })),
    ],
    [
      403,
      'InvalidProviderToken',
      'an unknown team',
      await bearer(providerToken(accounts, { teamId: 'OTHER' })),
    ],
    [403, 'InvalidProviderToken', 'another signature', await bearer(providerToken(forged))],
    [
      403,
      'InvalidProviderToken',
      'from the future',
      await bearer(providerToken(accounts, { issuedAt: now + HOUR_SECONDS })),
    ],
    [
      403,
      'ExpiredProviderToken',
      'too old',
      await bearer(providerToken(accounts, { issuedAt: now - HOUR_SECONDS - 1 })),
    ],
    [400, 'MissingTopic', 'no topic', { 'apns-topic': undefined }],
    [400, 'BadTopic', 'no bundle id', { 'apns-topic': 'no topic!' }],
    [400, 'TopicDisallowed', 'an app of somebody else', { 'apns-topic': 'org.else.app' }],
    [400, 'InvalidPushType', 'no push type', { 'apns-push-type': undefined }],
    [400, 'InvalidPushType', 'an unknown push type', { 'apns-push-type': 'shout' }],
    [400, 'InvalidPushType', 'a type of another topic', { 'apns-push-type': 'voip' }],
    [400, 'InvalidPushType', 'a background push that shows', { ...background }],
    [400, 'BadPriority', 'an unknown priority', { 'apns-priority': '7' }],
    [
      400,
      'BadPriority',
      'background at once',
      { ...background, 'apns-priority': '10' },
      '{"aps":{"content-available":1}}',
    ],
    [
      400,
      'BadPriority',
      'background, by default at once',
      { 'apns-push-type': 'background' },
      '{"aps":{"content-available":1}}',
    ],
    [400, 'BadExpirationDate', 'no number', { 'apns-expiration': 'soon' }],
    [400, 'BadCollapseId', 'more than 64 bytes', { 'apns-collapse-id': 'x'.repeat(65) }],
    [
      400,
      'BadMessageId',
      'an id in upper case',
      { 'apns-id': 'A0000000-0000-4000-8000-000000000000' },
    ],
    [400, 'PayloadEmpty', 'no body', {}, ''],
    [400, 'PayloadEmpty', 'no JSON', {}, 'Goal!'],
    [400, 'PayloadEmpty', 'no aps', {}, '{"alert":"Goal!"}'],
    [413, 'PayloadTooLarge', 'more than 4,096 bytes', {}, oversized],
    [
      413,
      'PayloadTooLarge',
      'far more',
      {},
      JSON.stringify({ aps: {}, filler: 'x'.repeat(200_000) }),
    ],
  ];
  for (const [status, reason, name, headers, body = BODY] of faults) {
    // One connection each: several provider tokens on one would be a fault of their own.
    const session = open(t, simulator, simulator.apnsOrigin);
    const reply = await ask(session, withoutUndefined({ ...right, ...headers }), body);
    t.match([reply.status, JSON.parse(reply.body)], [status, { reason }], `${reason}: ${name}`);
    t.match(reply.headers['apns-id'], ANY_UUID, 'every answer has an apns-id');
    session.destroy();
  }
  const { json } = await control(simulator, 'GET /state');
  t.match(json, { apns: { accepted: 0, rejected: { BadDeviceToken: 3, PayloadEmpty: 3 } } });

  // The connection's memory of right requests must not help a wrong one that comes between them.
  const session = open(t, simulator, simulator.apnsOrigin);
  for (const [status, reason, name, headers, body = BODY] of faults) {
    t.equal((await ask(session, right, BODY)).status, 200);
    const reply = await ask(session, withoutUndefined({ ...right, ...headers }), body);
    t.match([reply.status, JSON.parse(reply.body)], [status, { reason }], `then ${name}`);
  }
  t.equal((await ask(session, right, BODY)).status, 200);
});

t.test('every right form is accepted', async (t) => {
  const simulator = await simulate(t);
  const { bundleId } = simulator.accounts.apns;
  const right = await apnsHeaders(simulator.accounts, TOKEN);
  const session = open(t, simulator, simulator.apnsOrigin);
  const id = 'a0000000-0000-4000-8000-000000000000';
  const silent = '{"aps":{"content-available":1}}';
  const forms: readonly [name: string, headers: OutgoingHttpHeaders, body?: string][] = [
    ['alert', {}],
    [
      'all headers',
      {
        'apns-id': id,
        'apns-priority': '5',
        'apns-expiration': '1800000000',
        'apns-collapse-id': 'x'.repeat(64),
      },
    ],
    ['a long token', { ':path': `/3/device/${'ab'.repeat(80)}` }],
    ['background', { 'apns-push-type': 'background', 'apns-priority': '5' }, silent],
    [
      'voip of 5,000 bytes',
      { 'apns-push-type': 'voip', 'apns-topic': `${bundleId}.voip` },
      JSON.stringify({ aps: {}, filler: 'x'.repeat(5_000) }),
    ],
    [
      'liveactivity',
      { 'apns-push-type': 'liveactivity', 'apns-topic': `${bundleId}.push-type.liveactivity` },
    ],
    ['4,096 bytes', {}, JSON.stringify({ aps: {}, filler: 'x'.repeat(4_096 - 22) })],
  ];
  for (const [name, headers, body = BODY] of forms) {
    const reply = await ask(session, { ...right, ...headers }, body);
    t.match([reply.status, reply.body], [200, ''], name);
    if (headers['apns-id'] !== undefined)
      t.equal(reply.headers['apns-id'], id, 'the id comes back');
  }
});

t.test('a connection takes a token and its successor, not a third', async (t) => {
  const simulator = await simulate(t);
  const session = open(t, simulator, simulator.apnsOrigin);
  const right = await apnsHeaders(simulator.accounts, TOKEN);
  const now = Math.floor(Date.now() / 1_000);
  const tokens = await Promise.all(
    [0, 1, 2].map((age) => providerToken(simulator.accounts, { issuedAt: now - age })),
  );
  const push = async (token: string | undefined) => {
    const reply = await ask(session, { ...right, authorization: `bearer ${token}` }, BODY);
    return reply.status === 200 ? 'accepted' : JSON.parse(reply.body);
  };
  t.equal(await push(tokens[0]), 'accepted');
  t.equal(await push(tokens[1]), 'accepted');
  t.match(await push(tokens[2]), { reason: 'TooManyProviderTokenUpdates' });
  t.equal(await push(tokens[0]), 'accepted', 'those it knows still work');
});

t.test('a provider token grows old on a connection that knows it', async (t) => {
  const accounts = await createAccounts();
  const book = new AccountBook();
  book.add(accounts);
  const live: LiveBehaviour = { current: KIND_BEHAVIOUR, outage: 'none' };
  const pushes = { live, scripts: new Scripts(), record: new ProviderRecord() };
  let nowMs = Date.now();
  const handle = createApns(pushes, book, () => nowMs);
  const headers = await apnsHeaders(accounts, TOKEN);
  const request = {
    method: 'POST',
    path: `/3/device/${TOKEN}`,
    authority: 'localhost',
    fields: Object.entries(headers)
      .filter(([name]) => name !== ':path')
      .map(([name, value]) => recurringField(name, String(value))),
    body: Buffer.from(BODY),
    connection: new ConnectionMemory(),
  };
  t.match(handle(request), { status: 200 });
  nowMs += HOUR_SECONDS * 1_000 - 2_000;
  t.match(handle(request), { status: 200 });
  nowMs += 3_000;
  t.match(handle(request), { status: 403, body: '{"reason":"ExpiredProviderToken"}' });
  // The wire uses the bytes of a body again once it is answered.
  request.body.fill(0);
  t.match(pushes.record.report(TOKEN), { count: 3, last: { payload: JSON.parse(BODY) } });
  t.end();
});

t.test('a connection belongs to the team of its first accepted push', async (t) => {
  const simulator = await simulate(t);
  const other = await createAccounts();
  await control(simulator, 'POST /accounts', other);
  const first = open(t, simulator, simulator.apnsOrigin);
  t.equal((await ask(first, await apnsHeaders(simulator.accounts, TOKEN), BODY)).status, 200);
  const refused = await ask(first, await apnsHeaders(other, TOKEN), BODY);
  t.match([refused.status, JSON.parse(refused.body)], [403, { reason: 'InvalidProviderToken' }]);
  const second = open(t, simulator, simulator.apnsOrigin);
  t.equal((await ask(second, await apnsHeaders(other, TOKEN), BODY)).status, 200);
});

t.test('every fault of the behaviour has its answer', async (t) => {
  const simulator = await simulate(t);
  const session = open(t, simulator, simulator.apnsOrigin);
  const headers = await apnsHeaders(simulator.accounts, TOKEN);
  const shares = { gone: 0, badToken: 0, notFound: 0, throttled: 0, serverError: 0 };
  const startedMs = Date.now();
  for (const [share, status, reason] of [
    ['gone', 410, 'Unregistered'],
    ['badToken', 400, 'BadDeviceToken'],
    ['notFound', 404, 'BadPath'],
    ['throttled', 429, 'TooManyRequests'],
    ['serverError', 500, EITHER_SERVER_ERROR],
  ] as const) {
    await control(simulator, 'PUT /behaviour', { shares: { ...shares, [share]: 1 } });
    const reply = await ask(session, headers, BODY);
    const body = JSON.parse(reply.body) as { reason: string; timestamp?: number };
    t.match(body, { reason }, share);
    if (share === 'serverError')
      t.match(reply.status, body.reason === 'InternalServerError' ? 500 : 503);
    else t.equal(reply.status, status, share);
    if (share === 'gone') t.ok((body.timestamp ?? 0) >= startedMs, 'dead since now');
    else t.equal(body.timestamp, undefined, 'only the dead have a timestamp');
  }
  await control(simulator, 'PUT /behaviour', { shares: { ...shares, badGateway: 1 } });
  const page = await ask(session, headers, BODY);
  t.match([page.status, page.headers['content-type']], [502, 'text/html']);
  t.match(page.body, '<!DOCTYPE html>');
});

function withoutUndefined(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
}
