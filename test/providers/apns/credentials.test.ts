import { decodeProtectedHeader, jwtVerify } from 'jose';
import t from 'tap';
import { mintProviderToken, signedAtMsOf } from '../../../src/providers/apns/credentials.ts';
import { apnsCredential, ecKeys, rsaKeys } from '../../support/provider-credentials.ts';

const NOW_MS = 1_700_000_000_900;

t.test('a provider token as Apple wants it', async (t) => {
  const keys = ecKeys('P-256');
  const minted = await mintProviderToken(apnsCredential(keys), NOW_MS);
  t.ok(minted.ok);
  if (!minted.ok) return;
  t.match(minted.value, 'bearer ');
  const token = minted.value.slice('bearer '.length);
  t.same(decodeProtectedHeader(token), { alg: 'ES256', kid: 'KEY1234567' });
  const { payload } = await jwtVerify(token, keys.publicKey, { algorithms: ['ES256'] });
  t.same(payload, { iss: 'TEAM123456', iat: 1_700_000_000 });
  const minutes = (minted.refreshAtMs - NOW_MS) / 60_000;
  t.ok(minutes >= 50 && minutes <= 55, 'renewed after 50 to 55 minutes');
  t.equal(minted.expiresAtMs - NOW_MS, 3_600_000);
  t.equal(signedAtMsOf(minted.value), 1_700_000_000_000);
  for (const text of ['', 'bearer ', 'bearer a.b.c']) t.equal(signedAtMsOf(text), null);
});

t.test('any other key is an answer, not an exception', async (t) => {
  for (const keys of [ecKeys('P-384'), rsaKeys()]) {
    t.match(await mintProviderToken(apnsCredential(keys), NOW_MS), { ok: false, retryable: false });
  }
  for (const privateKey of ['', 'no key', '-----BEGIN PRIVATE KEY-----\nAAAA\n']) {
    const credential = { ...apnsCredential(), privateKey };
    t.match(await mintProviderToken(credential, NOW_MS), {
      ok: false,
      reason: 'the private key is not a P-256 key in PKCS 8',
    });
  }
});
