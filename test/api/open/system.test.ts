/** The state of the installation, for its operator alone. */

import t from 'tap';
import { fullVersion } from '../../../src/app/version.ts';
import { addAccount, beginSession } from '../../support/accounts.ts';
import { finalStatus, post, push } from '../../support/client.ts';
import { until } from '../../support/poll.ts';
import { startService } from '../../support/service.ts';
import { temporaryStore } from '../../support/store.ts';

const OPERATOR_TOKEN = 'the-token-of-an-operator-of-this-test';

t.test('by the token, and by an account of the operator', async (t) => {
  const store = await temporaryStore(t);
  const { engine } = await startService(t, store, { OPERATOR_TOKEN });
  const ask = async (path: string, headers: Readonly<Record<string, string>>) => {
    const answer = await fetch(engine.url + path, { headers });
    return {
      status: answer.status,
      headers: answer.headers,
      body: (await answer.json()) as unknown,
    };
  };
  const byToken = await ask('/operator/v1/system', { Authorization: `Bearer ${OPERATOR_TOKEN}` });
  t.equal(byToken.status, 200);
  t.equal(byToken.headers.get('cache-control'), 'no-store');
  t.equal(byToken.headers.get('access-control-allow-origin'), null);
  t.match(byToken.body, {
    ...fullVersion(),
    nodes: [{ isDead: false, pid: process.pid }],
    front: { kind: /^(?:uws|node)$/ },
    stores: { postgres: 'ok' },
    index: null,
    providers: { openCircuits: [] },
    queue: { chunks: 0, retries: 0, registrations: 0 },
  });
  const clients = await ask('/operator/v1/clients', { Authorization: `Bearer ${OPERATOR_TOKEN}` });
  t.same(clients.body, [{ clientId: 'demo', name: 'Demo', isDisabled: false }]);

  for (const token of [`${OPERATOR_TOKEN}x`, OPERATOR_TOKEN.slice(1), 'x']) {
    t.equal((await ask('/operator/v1/system', { Authorization: `Bearer ${token}` })).status, 401);
  }
  const basic = `Basic ${Buffer.from(`operator:${OPERATOR_TOKEN}`).toString('base64')}`;
  t.equal((await ask('/operator/v1/system', { Authorization: basic })).status, 401);
  let last = 0;
  for (let n = 0; n < 31; n += 1) {
    last = (await ask('/operator/v1/system', { Authorization: 'Bearer guess' })).status;
  }
  t.equal(last, 429, 'guesses are counted as those of credentials are');

  const { sql } = store;
  const operator = await addAccount(sql, { email: 'ops@example.com', isOperator: true });
  const other = await addAccount(sql, { email: 'ann@example.com' });
  const inConsole = async (accountId: number) =>
    ask('/console/api/system', (await beginSession(sql, accountId)).headers);
  t.match(await inConsole(operator), { status: 200, body: { stores: { postgres: 'ok' } } });
  t.equal((await inConsole(other)).status, 403);
});

t.test('connections to providers are counted', async (t) => {
  const store = await temporaryStore(t);
  const { engine, demo } = await startService(t, store, { OPERATOR_TOKEN });
  const { baseUrl, appId, apiUser } = demo;
  const [tagId = 0] = demo.tagIds;
  const device = { appId, platformId: 3, deviceId: 'ab'.repeat(32), tagId: [tagId] };
  await (await post(`${baseUrl}/push-api/reg`, apiUser.token, device)).text();
  await finalStatus(baseUrl, demo, await push(baseUrl, demo, [tagId]));
  const headers = { Authorization: `Bearer ${OPERATOR_TOKEN}` };
  // Worker threads report their open connections now and then.
  const apns = await until('a connection to APNs is told', async () => {
    const { providers } = (await (
      await fetch(`${engine.url}/operator/v1/system`, { headers })
    ).json()) as { readonly providers: { readonly connections: readonly Connections[] } };
    return (
      providers.connections.find((one) => one.provider === 'apns' && one.connections > 0) ?? null
    );
  });
  t.match(apns, { streams: Number, connectFailures: 0 });
});

interface Connections {
  readonly provider: string;
  readonly connections: number;
}

t.test('without a token there is no such path', async (t) => {
  const store = await temporaryStore(t);
  const { engine } = await startService(t, store);
  const headers = { Authorization: `Bearer ${OPERATOR_TOKEN}` };
  t.equal((await fetch(`${engine.url}/operator/v1/system`, { headers })).status, 404);
});
