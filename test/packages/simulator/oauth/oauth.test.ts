/** The token endpoint's answers to every kind of assertion. */

import t from 'tap';
import { createAccounts } from '../../../../packages/simulator/src/accounts.ts';
import { ask, askForAccessToken, assertion, open, simulate } from '../peer.ts';

t.test('a signed assertion gets an access token', async (t) => {
  const simulator = await simulate(t);
  const session = open(t, simulator, simulator.oauthOrigin);
  const cloud = { scope: 'openid https://www.googleapis.com/auth/cloud-platform' };
  const own = { aud: `${simulator.oauthOrigin}/token` };
  for (const claims of [{}, cloud, own]) {
    const reply = await askForAccessToken(session, await assertion(simulator.accounts, claims));
    t.equal(reply.status, 200);
    t.match(JSON.parse(reply.body), {
      access_token: String,
      expires_in: 3_599,
      token_type: 'Bearer',
    });
  }
});

t.test('every other assertion gets the error that Google gives', async (t) => {
  const simulator = await simulate(t);
  const session = open(t, simulator, simulator.oauthOrigin);
  const { accounts } = simulator;
  const stranger = await createAccounts();
  const now = Math.floor(Date.now() / 1_000);
  const faults: readonly [error: string, description: string, assertion: string][] = [
    ['invalid_grant', 'Failed to parse', 'nonsense'],
    ['invalid_grant', 'account not found', await assertion(stranger)],
    [
      'invalid_grant',
      'Signature',
      await assertion(accounts, {}, stranger.fcm.serviceAccount.private_key),
    ],
    ['invalid_grant', 'audience', await assertion(accounts, { aud: 'https://example.org/token' })],
    ['invalid_grant', 'short-lived', await assertion(accounts, { exp: now + 7_200 })],
    [
      'invalid_grant',
      'short-lived',
      await assertion(accounts, { iat: now - 7_200, exp: now - 3_600 }),
    ],
    [
      'invalid_grant',
      'short-lived',
      await assertion(accounts, { iat: now + 3_600, exp: now + 7_200 }),
    ],
    ['invalid_grant', 'short-lived', await assertion(accounts, { iat: undefined })],
    ['invalid_scope', 'scope', await assertion(accounts, { scope: 'openid' })],
    ['invalid_scope', 'scope', await assertion(accounts, { scope: undefined })],
  ];
  for (const [error, description, signed] of faults) {
    const reply = await askForAccessToken(session, signed);
    t.equal(reply.status, 400);
    t.match(JSON.parse(reply.body), { error, error_description: description });
  }
  const otherGrant = await askForAccessToken(session, await assertion(accounts), 'password');
  t.match(
    [otherGrant.status, JSON.parse(otherGrant.body)],
    [400, { error: 'unsupported_grant_type' }],
  );
  t.equal((await ask(session, { ':path': '/token', ':method': 'PUT' })).status, 404);
});
