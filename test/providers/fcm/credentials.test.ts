import { decodeProtectedHeader, jwtVerify } from 'jose';
import t from 'tap';
import { exchangeAccessToken } from '../../../src/providers/fcm/access-token.ts';
import { ecKeys, fcmCredential, rsaKeys } from '../../support/provider-credentials.ts';
import { answer, startProviderPeer } from '../../support/provider-peer.ts';

const keys = rsaKeys();
const credential = fcmCredential(keys);

t.test('the JWT-bearer grant as Google wants it', async (t) => {
  const peer = await startProviderPeer({
    script: (request) =>
      answer(request, 200, { access_token: 'ya29.x', expires_in: 3_599, token_type: 'Bearer' }),
  });
  const now = Date.now();
  const minted = await exchangeAccessToken(credential, peer, now);
  t.same(minted, {
    ok: true,
    value: 'Bearer ya29.x',
    mintedAtMs: now,
    refreshAtMs: now + 3_299_000,
    expiresAtMs: now + 3_599_000,
  });
  const [request] = peer.received;
  t.match(request?.headers, {
    ':method': 'POST',
    ':path': '/token',
    'content-type': 'application/x-www-form-urlencoded',
  });
  const form = new URLSearchParams(request?.body);
  t.equal(form.get('grant_type'), 'urn:ietf:params:oauth:grant-type:jwt-bearer');
  const assertion = form.get('assertion') ?? '';
  t.match(decodeProtectedHeader(assertion), { alg: 'RS256', kid: 'abc123' });
  const { payload } = await jwtVerify(assertion, keys.publicKey, {
    audience: `${peer.origin}/token`,
    issuer: credential.serviceAccount.client_email,
  });
  t.equal(payload['scope'], 'https://www.googleapis.com/auth/firebase.messaging');
  t.equal((payload.exp ?? 0) - (payload.iat ?? 0), 3_600);
  await peer.close();
});

t.test('a lifetime that no database could hold is a day', async (t) => {
  const peer = await startProviderPeer({
    script: (request) =>
      answer(request, 200, { access_token: 'ya29.x', expires_in: 9_000_000_000_000 }),
  });
  const now = Date.now();
  const minted = await exchangeAccessToken(credential, peer, now);
  t.match(minted, { ok: true, expiresAtMs: now + 86_400_000 });
  await peer.close();
});

t.test('refusals and failures are values, and say whether asking again helps', async (t) => {
  const answers: readonly (readonly [number, unknown, object])[] = [
    [
      400,
      { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' },
      { reason: /invalid_grant: Invalid JWT Signature\. – the key was deleted/, retryable: false },
    ],
    [
      400,
      { error: 'invalid_grant', error_description: 'Invalid grant: account not found' },
      { reason: /the service account was deleted/, retryable: false },
    ],
    [
      400,
      {
        error: 'invalid_grant',
        error_description: 'Token must be a short-lived token (60 minutes)',
      },
      { reason: /is the clock of this machine right/, retryable: true },
    ],
    [401, { error: 'invalid_client' }, { reason: 'token request: invalid_client' }],
    [403, '<html>', { reason: 'token request: status 403', retryable: true }],
    [429, '', { reason: 'token request: status 429', retryable: true }],
    [503, '<html>', { reason: 'token request: status 503', retryable: true }],
    [200, '<html>', { reason: 'token request: no token in the answer', retryable: true }],
    [200, { access_token: 'a\nb', expires_in: 1 }, { retryable: true }],
    [200, { access_token: 'a' }, { retryable: true }],
    [200, 'x'.repeat(200_000), { reason: /more than belongs there/, retryable: true }],
  ];
  let script: readonly [number, unknown] = [200, ''];
  const peer = await startProviderPeer({ script: (request) => answer(request, ...script) });
  for (const [status, body, failure] of answers) {
    script = [status, body];
    const minted = await exchangeAccessToken(credential, peer, Date.now());
    t.match(minted, { ok: false, ...failure }, `${status} ${JSON.stringify(body).slice(0, 40)}`);
  }
  await peer.close();
  t.match(await exchangeAccessToken(credential, peer, Date.now()), {
    ok: false,
    reason: /^token request: 127\.0\.0\.1:\d+ refuses connections/,
    retryable: true,
  });
});

t.test('a connection lost before the answer', async (t) => {
  const peer = await startProviderPeer({ script: () => peer.cut() });
  const minted = await exchangeAccessToken(credential, peer, Date.now());
  t.match(minted, { ok: false, retryable: true });
  await peer.close();
});

t.test('a key that is not RSA is never sent anywhere', async (t) => {
  const peer = await startProviderPeer({ script: (request) => answer(request, 200) });
  for (const other of [fcmCredential(ecKeys('P-256')), withKey('no key')]) {
    t.match(await exchangeAccessToken(other, peer, Date.now()), { ok: false, retryable: false });
  }
  t.equal(peer.connections(), 0);
  await peer.close();
});

const withKey = (private_key: string) => ({
  ...credential,
  serviceAccount: { ...credential.serviceAccount, private_key },
});
