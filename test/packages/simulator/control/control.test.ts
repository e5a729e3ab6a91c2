/** The control endpoint: its answers, its changes and its refusals. */

import t from 'tap';
import type { ProviderAccounts } from '../../../../packages/simulator/src/accounts.ts';
import { apnsHeaders, apnsToken, ask, control, fcmHeaders, open, simulate } from '../peer.ts';

const BODY = '{"aps":{"alert":"Goal!"}}';

interface Problem {
  readonly status: number;
  readonly detail: string;
  readonly errors: readonly { readonly path: string }[];
}

t.test('it tells what each token received', async (t) => {
  const simulator = await simulate(t);
  const session = open(t, simulator, simulator.apnsOrigin);
  const headers = await apnsHeaders(simulator.accounts, apnsToken(1));
  const push = async (number: number, body = BODY) =>
    await ask(session, { ...headers, ':path': `/3/device/${apnsToken(number)}` }, body);
  for (const number of [1, 2, 2, 10, 10, 10]) t.equal((await push(number)).status, 200);
  t.equal((await push(2, '{}')).status, 400);

  const state = await control(simulator, 'GET /state');
  t.match(state.json, {
    apns: {
      accepted: 6,
      rejected: { PayloadEmpty: 1 },
      connectionsOpened: 1,
      tokens: 3,
      duplicates: 3,
      notRecorded: 0,
    },
    fcm: { accepted: 0, tokens: 0 },
    oauth: { accepted: 0 },
  });
  const counts = await control(simulator, 'GET /counts/apns');
  t.same(counts.json, { tokens: 3, times: { 1: 1, 2: 1, 3: 1 } });
  t.same((await control(simulator, 'GET /tokens/apns?times=2')).json, [apnsToken(2)]);
  t.same((await control(simulator, 'GET /tokens/apns?limit=2')).json, [apnsToken(1), apnsToken(2)]);

  const upperCase = apnsToken(10).toUpperCase();
  const ten = await control<{ last: { headers: object } }>(
    simulator,
    `GET /received/apns/${upperCase}`,
  );
  t.match(ten.json, { count: 3, accepted: 3, last: { payload: JSON.parse(BODY) } });
  t.match(ten.json.last.headers, { 'apns-topic': simulator.accounts.apns.bundleId });
  t.notOk('authorization' in ten.json.last.headers, 'credentials are not shown');
  const two = await control(simulator, `GET /received/apns/${apnsToken(2)}`);
  t.match(two.json, {
    count: 3,
    accepted: 2,
    rejected: { PayloadEmpty: 1 },
    last: { payload: {} },
  });
  const unknown = await control(simulator, `GET /received/apns/${apnsToken(9)}`);
  t.same(unknown.json, { count: 0, accepted: 0, lostAnswers: 0, rejected: {}, last: null });
});

t.test('it lists what a device shows, while the behaviour says so', async (t) => {
  const simulator = await simulate(t);
  const session = open(t, simulator, simulator.apnsOrigin);
  const headers = await apnsHeaders(simulator.accounts, apnsToken(1));
  const push = (body: string, more: object = {}) => ask(session, { ...headers, ...more }, body);
  const shown = async () => (await control(simulator, `GET /shown/apns/${apnsToken(1)}`)).json;
  await push(BODY);
  t.same(await shown(), []);
  await control(simulator, 'PUT /behaviour', { keepsShown: true });
  await push(BODY);
  await push('{"aps":{"badge":1}}');
  const named = { 'apns-collapse-id': 'match-7' };
  await push('{"aps":{"alert":{"title":"1:0"}}}', named);
  await push('{"aps":{"alert":{"title":"1:1","body":"Goal"}},"pushId":"n"}', named);
  t.same(await shown(), [
    { identity: null, title: null, body: 'Goal!', pushId: null },
    { identity: 'match-7', title: '1:1', body: 'Goal', pushId: 'n' },
  ]);
  await control(simulator, 'POST /reset');
  t.same(await shown(), []);
});

t.test('a script answers for one token, as often as it says', async (t) => {
  const simulator = await simulate(t);
  const session = open(t, simulator, simulator.apnsOrigin);
  const headers = await apnsHeaders(simulator.accounts, apnsToken(1));
  const gone = { status: 410, reason: 'Unregistered', timestamp: 1_700_000_000_000, times: 2 };
  t.equal((await control(simulator, `PUT /tokens/apns/${apnsToken(1)}`, gone)).status, 200);
  for (let time = 0; time < 2; time += 1) {
    const reply = await ask(session, headers, BODY);
    const { reason, timestamp } = gone;
    t.match([reply.status, JSON.parse(reply.body)], [410, { reason, timestamp }]);
  }
  t.equal((await ask(session, headers, BODY)).status, 200, 'then all is as before');

  const google = open(t, simulator, simulator.fcmOrigin);
  const send = { ...(await fcmHeaders(google, simulator.accounts)) };
  const token = 'a/b"c';
  const script = { status: 503, reason: 'UNAVAILABLE', retryAfterSeconds: 30 };
  await control(simulator, `PUT /tokens/fcm/${encodeURIComponent(token)}`, script);
  const reply = await ask(google, send, JSON.stringify({ message: { token } }));
  t.match([reply.status, reply.headers['retry-after']], [503, '30']);
  t.match(JSON.parse(reply.body), { error: { details: [{ errorCode: 'UNAVAILABLE' }] } });
});

t.test('behaviour is merged, and reset brings back the first', async (t) => {
  const simulator = await simulate(t, { shares: { gone: 0.25 }, seed: 7 });
  const changed = await control(simulator, 'PUT /behaviour', {
    shares: { throttled: 1 },
    latencyMs: 5,
  });
  const merged = { latencyMs: 5, seed: 7, shares: { gone: 0.25, throttled: 1, serverError: 0 } };
  t.match(changed.json, merged);
  t.same((await control(simulator, 'GET /behaviour')).json, changed.json);

  const session = open(t, simulator, simulator.apnsOrigin);
  const token = apnsToken(1);
  await ask(session, await apnsHeaders(simulator.accounts, token), BODY);
  await control(simulator, `PUT /tokens/apns/${token}`, { status: 500 });
  t.equal((await control(simulator, 'POST /reset')).status, 200);
  t.match((await control(simulator, 'GET /behaviour')).json, {
    latencyMs: 0,
    shares: { gone: 0.25, throttled: 0 },
  });
  t.match((await control(simulator, 'GET /state')).json, {
    apns: { accepted: 0, tokens: 0, rejected: {} },
  });
  await control(simulator, 'PUT /behaviour', { shares: { gone: 0 } });
  const reply = await ask(session, await apnsHeaders(simulator.accounts, token), BODY);
  t.equal(reply.status, 200, 'the script is gone too');
});

t.test('accounts can be added, given or made', async (t) => {
  const simulator = await simulate(t);
  const made = await control<ProviderAccounts>(simulator, 'POST /accounts');
  t.equal(made.status, 201);
  const session = open(t, simulator, simulator.apnsOrigin);
  t.equal((await ask(session, await apnsHeaders(made.json, apnsToken(1)), BODY)).status, 200);
  const google = open(t, simulator, simulator.fcmOrigin);
  const send = await fcmHeaders(google, made.json);
  t.equal((await ask(google, send, '{"message":{"token":"x"}}')).status, 200);
  t.same((await control(simulator, 'GET /accounts')).json, [simulator.accounts, made.json]);

  const badKey = { ...made.json, apns: { ...made.json.apns, privateKey: 'no key' } };
  const refused = await control<Problem>(simulator, 'POST /accounts', badKey);
  t.match([refused.status, refused.json.errors[0]?.path], [400, 'apns.privateKey']);
});

t.test('what it cannot take is a problem that says where', async (t) => {
  const simulator = await simulate(t);
  for (const [status, path, call, body] of [
    [404, undefined, 'GET /nowhere'],
    [404, undefined, 'GET /received/sms/1'],
    [404, undefined, 'GET /received/apns'],
    [405, undefined, 'DELETE /state'],
    [405, undefined, 'GET /reset'],
    [400, undefined, 'GET /received/apns/%zz'],
    [400, 'times', 'GET /tokens/apns?times=x'],
    [400, 'limit', 'GET /tokens/apns?limit=0'],
    [400, 'shares.gone', 'PUT /behaviour', { shares: { gone: 2 } }],
    [400, 'latencyMs', 'PUT /behaviour', { latencyMs: -1 }],
    [400, '', 'PUT /behaviour', { goAwayEvry: 1 }],
    [400, '', 'PUT /behaviour', '{'],
    [400, 'status', 'PUT /tokens/fcm/x', { reason: 'UNREGISTERED' }],
    [413, undefined, 'PUT /behaviour', 'x'.repeat(100_000)],
  ] as const) {
    const { status: answered, json } = await control<Problem>(simulator, call, body);
    t.match([answered, json.status], [status, status], call);
    t.equal(json.errors[0]?.path, path, `${call} names ${path}: ${json.detail}`);
  }
  const { headers } = await fetch(`${simulator.controlUrl}/behaviour`, { method: 'POST' });
  t.match(
    [headers.get('allow'), headers.get('content-type')],
    ['GET, PUT', 'application/problem+json'],
  );
});
