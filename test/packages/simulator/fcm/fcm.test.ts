/** FCM's answers to every kind of message, right and wrong. */

import type { OutgoingHttpHeaders } from 'node:http2';
import t from 'tap';
import { createAccounts } from '../../../../packages/simulator/src/accounts.ts';
import { ask, control, fcmHeaders, open, simulate } from '../peer.ts';

const TOKEN = 'dRh8:APA91b-x_y';
const FID = 'dRh8_-aBcDeFgHiJkLmNoP';
const ANY_STATUS_5XX = /^50[023]$/;

interface GoogleErrorBody {
  readonly error: {
    readonly code: number;
    readonly message: string;
    readonly status: string;
    readonly details?: readonly {
      readonly '@type': string;
      readonly errorCode?: string;
      readonly fieldViolations?: readonly { readonly field: string }[];
    }[];
  };
}

const errorCodeOf = (body: string) =>
  (JSON.parse(body) as GoogleErrorBody).error.details?.find((one) => one.errorCode)?.errorCode;

t.test('a message with every field is accepted, a dry run reaches nobody', async (t) => {
  const simulator = await simulate(t);
  const session = open(t, simulator, simulator.fcmOrigin);
  const headers = await fcmHeaders(session, simulator.accounts);
  const android = { ttl: '3600s', priority: 'HIGH', collapse_key: 'score', data: { a: '1' } };
  const apns = { headers: { 'apns-priority': '5' }, payload: { aps: {} } };
  const message = {
    token: TOKEN,
    data: { a: '1' },
    notification: { title: 'Goal!' },
    android,
    apns,
  };
  const reply = await ask(session, headers, JSON.stringify({ message }));
  t.equal(reply.status, 200);
  const { project_id: project } = simulator.accounts.fcm.serviceAccount;
  const { name } = JSON.parse(reply.body) as { name: string };
  t.ok(name.startsWith(`projects/${project}/messages/`), name);

  const dry = await ask(session, headers, JSON.stringify({ message, validate_only: true }));
  t.equal(dry.status, 200);
  const { json } = await control(simulator, `GET /received/fcm/${encodeURIComponent(TOKEN)}`);
  t.match(json, { count: 1, accepted: 1, last: { payload: { message } } });
});

t.test('messages that differ in their token are each taken for their own device', async (t) => {
  const simulator = await simulate(t);
  const session = open(t, simulator, simulator.fcmOrigin);
  const headers = await fcmHeaders(session, simulator.accounts);
  const tokens = [TOKEN, `${TOKEN}2`, 'x', 'a"b', TOKEN];
  const data = { title: 'Goal!' };
  const names = new Set<string>();
  for (const token of tokens) {
    const reply = await ask(session, headers, JSON.stringify({ message: { token, data } }));
    t.equal(reply.status, 200);
    names.add((JSON.parse(reply.body) as { name: string }).name);
    const received = `GET /received/fcm/${encodeURIComponent(token)}`;
    t.match((await control(simulator, received)).json, {
      last: { payload: { message: { token, data } } },
    });
  }
  t.equal(names.size, tokens.length, 'every message has a name of its own');
  t.same((await control(simulator, 'GET /tokens/fcm')).json, tokens.slice(0, 4));
  t.same((await control(simulator, 'GET /tokens/fcm?times=2')).json, [TOKEN]);
});

t.test('a token with quotes and backslashes is that very token', async (t) => {
  const simulator = await simulate(t);
  const session = open(t, simulator, simulator.fcmOrigin);
  const headers = await fcmHeaders(session, simulator.accounts);
  const odd = 'a"b\\c\\"},{"token":"d/é%2F';
  t.equal((await ask(session, headers, JSON.stringify({ message: { token: odd } }))).status, 200);
  t.same((await control(simulator, 'GET /tokens/fcm')).json, [odd]);
  const { json } = await control(simulator, `GET /received/fcm/${encodeURIComponent(odd)}`);
  t.match(json, { count: 1, last: { payload: { message: { token: odd } } } });
});

t.test('every invalid message names its field', async (t) => {
  const simulator = await simulate(t);
  const session = open(t, simulator, simulator.fcmOrigin);
  const headers = await fcmHeaders(session, simulator.accounts);
  const faults: readonly [field: string, name: string, body: unknown][] = [
    ['', 'an unknown name beside the message', { message: { token: TOKEN }, validate: true }],
    ['message', 'no message', {}],
    ['message', 'no target', { message: { data: { a: '1' } } }],
    ['message.fid', 'a token as installation id', { message: { fid: TOKEN } }],
    [
      'message.fid',
      'an installation id that begins wrong',
      { message: { fid: `b${FID.slice(1)}` } },
    ],
    ['message.fid', 'token and fid', { message: { token: TOKEN, fid: FID } }],
    ['message.topic', 'two targets', { message: { token: TOKEN, topic: 'news' } }],
    ['message', 'an unknown name', { message: { token: TOKEN, to: 'x' } }],
    ['message.token', 'an empty token', { message: { token: '' } }],
    ['message.token', 'a token with a space', { message: { token: 'a b' } }],
    ['message.token', 'a token with a line break', { message: { token: 'a\nb' } }],
    ['message.token', 'a token that is no string', { message: { token: 7 } }],
    [
      'message.data[1].value',
      'a number in data',
      { message: { token: TOKEN, data: { a: '1', b: 2 } } },
    ],
    ['message.data', 'a reserved key', { message: { token: TOKEN, data: { from: 'x' } } }],
    [
      'message.android.data',
      'a reserved prefix for Android',
      { message: { token: TOKEN, android: { data: { 'gcm.notification.x': 'x' } } } },
    ],
    [
      'message.android',
      'a field in both spellings',
      { message: { token: TOKEN, android: { collapse_key: 'a', collapseKey: 'a' } } },
    ],
    ['message.data', 'data that is no object', { message: { token: TOKEN, data: ['x'] } }],
    [
      'message.notification.title',
      'a title that is no string',
      { message: { token: TOKEN, notification: { title: 1 } } },
    ],
    [
      'message.android.data[0].value',
      'a boolean for Android',
      { message: { token: TOKEN, android: { data: { a: true } } } },
    ],
    [
      'message.android.ttl',
      'a ttl without unit',
      { message: { token: TOKEN, android: { ttl: '3600' } } },
    ],
    [
      'message.android.ttl',
      'a ttl that is a number',
      { message: { token: TOKEN, android: { ttl: 3600 } } },
    ],
    [
      'message.android.ttl',
      'a ttl over four weeks',
      { message: { token: TOKEN, android: { ttl: '2419201s' } } },
    ],
    [
      'message.android.priority',
      'an unknown priority',
      { message: { token: TOKEN, android: { priority: 'urgent' } } },
    ],
    [
      'message.android.notification.notification_priority',
      'an unknown priority of what is shown',
      { message: { token: TOKEN, android: { notification: { notification_priority: 'HIGH' } } } },
    ],
    [
      'message.android.notification',
      'an unknown name in what is shown',
      { message: { token: TOKEN, android: { notification: { channel: 'goals' } } } },
    ],
    [
      'message.android.notification.notificationCount',
      'a count that is no whole number',
      { message: { token: TOKEN, android: { notification: { notificationCount: 1.5 } } } },
    ],
    [
      'message.apns.headers[0].value',
      'a header that is a number',
      { message: { token: TOKEN, apns: { headers: { 'apns-priority': 5 } } } },
    ],
  ];
  for (const [field, name, body] of faults) {
    // The connection's memory of right messages must not help a wrong one between them.
    const data = { googleMapsUrl: 'x', gcmToken: 'x' };
    const right = JSON.stringify({ message: { token: `${TOKEN}${name.length}`, data } });
    t.equal((await ask(session, headers, right)).status, 200);
    const reply = await ask(session, headers, JSON.stringify(body));
    const { error } = JSON.parse(reply.body) as GoogleErrorBody;
    t.match([reply.status, error.code, error.status], [400, 400, 'INVALID_ARGUMENT'], name);
    const details = error.details ?? [];
    t.equal(details.flatMap((one) => one.fieldViolations ?? [])[0]?.field, field, name);
    t.equal(details.find((one) => one.errorCode !== undefined)?.errorCode, 'INVALID_ARGUMENT');
  }
  const noJson = await ask(session, headers, '{"message":');
  t.match(
    [noJson.status, JSON.parse(noJson.body)],
    [400, { error: { status: 'INVALID_ARGUMENT' } }],
  );
});

t.test(
  'an installation is reached by what it registered by last, and by nothing else',
  async (t) => {
    const simulator = await simulate(t);
    const session = open(t, simulator, simulator.fcmOrigin);
    const headers = await fcmHeaders(session, simulator.accounts);
    const token = `${FID}:APA91b-x_y`;
    const send = async (target: object) => {
      const reply = await ask(session, headers, JSON.stringify({ message: target }));
      return reply.status === 200 ? 'accepted' : errorCodeOf(reply.body);
    };
    const register = (by: string) => control(simulator, `PUT /fcm/installations/${FID}`, { by });
    t.same([await send({ token }), await send({ fid: FID })], ['accepted', 'accepted'], 'not told');
    t.equal((await register('fid')).status, 200);
    t.same([await send({ token }), await send({ fid: FID })], ['UNREGISTERED', 'accepted']);
    t.equal(await send({ token: TOKEN }), 'accepted', 'others are not concerned');
    t.equal((await register('token')).status, 200);
    t.same([await send({ token }), await send({ fid: FID })], ['accepted', 'UNREGISTERED']);
    t.equal((await register('topic')).status, 400);
    t.equal((await control(simulator, 'PUT /fcm/installations/x:y', { by: 'fid' })).status, 400);
    await control(simulator, 'POST /reset');
    t.same([await send({ token }), await send({ fid: FID })], ['accepted', 'accepted']);
  },
);

t.test('a refused installation id is named as such', async (t) => {
  const simulator = await simulate(t, { shares: { badToken: 1 } });
  const session = open(t, simulator, simulator.fcmOrigin);
  const headers = await fcmHeaders(session, simulator.accounts);
  const fieldOf = async (target: object) => {
    const { body } = await ask(session, headers, JSON.stringify({ message: target }));
    const { error } = JSON.parse(body) as GoogleErrorBody;
    return error.details?.flatMap((one) => one.fieldViolations ?? [])[0]?.field;
  };
  t.same(
    [await fieldOf({ fid: FID }), await fieldOf({ token: TOKEN })],
    ['message.fid', 'message.token'],
  );
});

t.test('4,096 bytes of payload are taken, more come back without details', async (t) => {
  const simulator = await simulate(t);
  const session = open(t, simulator, simulator.fcmOrigin);
  const headers = await fcmHeaders(session, simulator.accounts);
  const send = async (bytes: number) => {
    const data = { a: 'x'.repeat(bytes - '{"a":""}'.length) };
    return await ask(session, headers, JSON.stringify({ message: { token: TOKEN, data } }));
  };
  t.equal((await send(4_096)).status, 200);
  for (const bytes of [4_097, 200_000]) {
    const reply = await send(bytes);
    const { error } = JSON.parse(reply.body) as GoogleErrorBody;
    t.match([reply.status, error.message], [400, 'Android message is too big']);
    t.equal(error.details, undefined);
  }
});

t.test('who may not send is told as Google tells it', async (t) => {
  const simulator = await simulate(t);
  const other = await createAccounts();
  await control(simulator, 'POST /accounts', other);
  const session = open(t, simulator, simulator.fcmOrigin);
  const right = await fcmHeaders(session, simulator.accounts);
  const foreign = await fcmHeaders(session, other);
  const body = JSON.stringify({ message: { token: TOKEN } });
  const { authorization: _, ...without } = right;
  const refusals: readonly [status: number, rpcStatus: string, headers: OutgoingHttpHeaders][] = [
    [401, 'UNAUTHENTICATED', without],
    [401, 'UNAUTHENTICATED', { ...right, authorization: 'Bearer ya29.never-issued' }],
    [403, 'PERMISSION_DENIED', { ...right, authorization: foreign['authorization'] }],
  ];
  for (const [status, rpcStatus, headers] of refusals) {
    const reply = await ask(session, headers, body);
    const expected = { error: { code: status, status: rpcStatus } };
    t.match([reply.status, JSON.parse(reply.body)], [status, expected], rpcStatus);
  }
  t.equal((await ask(session, foreign, body)).status, 200, 'the other account has its own project');
  for (const headers of [
    { ...right, ':path': '/v1/messages:send' },
    { ...right, ':method': 'PUT' },
  ]) {
    const reply = await ask(session, headers, body);
    t.equal(reply.status, 404);
    t.match(reply.headers['content-type'], 'text/html');
  }
});

t.test('every fault of the behaviour has its answer', async (t) => {
  const simulator = await simulate(t, { retryAfterSeconds: 7 });
  const session = open(t, simulator, simulator.fcmOrigin);
  const headers = await fcmHeaders(session, simulator.accounts);
  const shares = { gone: 0, badToken: 0, notFound: 0, throttled: 0, serverError: 0 };
  const send = async (share: string, token = TOKEN) => {
    await control(simulator, 'PUT /behaviour', { shares: { ...shares, [share]: 1 } });
    return await ask(session, headers, JSON.stringify({ message: { token } }));
  };
  const gone = await send('gone');
  t.match([gone.status, errorCodeOf(gone.body)], [404, 'UNREGISTERED']);
  const badToken = await send('badToken');
  t.match([badToken.status, errorCodeOf(badToken.body)], [400, 'INVALID_ARGUMENT']);
  const notFound = await send('notFound');
  t.match([notFound.status, errorCodeOf(notFound.body)], [404, undefined]);
  const throttled = await send('throttled');
  t.match([throttled.status, errorCodeOf(throttled.body)], [429, 'QUOTA_EXCEEDED']);
  t.equal(throttled.headers['retry-after'], '7');

  const seen = new Set<number>();
  for (let index = 0; index < 40; index += 1) {
    const reply = await send('serverError', `${TOKEN}${index}`);
    seen.add(reply.status);
    t.match(String(reply.status), ANY_STATUS_5XX);
    t.equal(reply.headers['retry-after'], reply.status === 503 ? '7' : undefined);
    if (reply.status === 502) t.match(reply.headers['content-type'], 'text/html');
  }
  t.same([...seen].sort(), [500, 502, 503], 'all three kinds of trouble were seen');
  const page = await send('badGateway');
  t.match([page.status, page.headers['content-type']], [502, 'text/html']);
  t.match(page.body, '<!DOCTYPE html>');
});
