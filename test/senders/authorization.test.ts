import t from 'tap';
import { Authorizations } from '../../src/senders/authorization.ts';
import { DEFAULT_ORIGINS } from '../../src/senders/origins.ts';
import {
  apnsCredential,
  fcmCredential,
  webPushCredential,
} from '../support/provider-credentials.ts';
import type { ProviderPeer } from '../support/provider-peer.ts';
import { answer, startProviderPeer } from '../support/provider-peer.ts';

const MINUTE_MS = 60_000;
const apns = apnsCredential();
const fcm = fcmCredential();

/** A clock that the test moves. It starts in the present, so that signed times are real. */
function clock() {
  let nowMs = Date.now();
  return {
    now: () => nowMs,
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

const valueNow = async (authorizations: Authorizations, credential = apns, key = 'a') => {
  const current = await authorizations.current(key, credential);
  if (!current.ok) throw new Error(current.reason);
  return current.value;
};

t.test('APNs: one token for all who ask, renewed before its hour is over', async (t) => {
  const { now, pass } = clock();
  const authorizations = new Authorizations(DEFAULT_ORIGINS, now);
  const [first, second] = await Promise.all([valueNow(authorizations), valueNow(authorizations)]);
  t.equal(first, second);
  pass(49 * MINUTE_MS);
  t.equal(await valueNow(authorizations), first);
  pass(7 * MINUTE_MS);
  t.equal(await valueNow(authorizations), first, 'it still works while the next one is made');
  await t.resolves(poll(async () => (await valueNow(authorizations)) !== first));
});

t.test('APNs: apps of one team with one key share one token', async (t) => {
  const authorizations = new Authorizations(DEFAULT_ORIGINS);
  const mine = await valueNow(authorizations, apns, 'app 1');
  t.equal(await valueNow(authorizations, { ...apns, bundleId: 'other' }, 'app 2'), mine);
  t.not(await valueNow(authorizations, { ...apns, keyId: 'OTHERKEY12' }, 'app 3'), mine);
});

t.test('APNs: never two tokens within 20 minutes, whatever the provider says', async (t) => {
  const { now, pass } = clock();
  const authorizations = new Authorizations(DEFAULT_ORIGINS, now);
  const first = await valueNow(authorizations);
  pass(10 * MINUTE_MS);
  authorizations.invalidate('a');
  t.equal(await valueNow(authorizations), first);
  pass(11 * MINUTE_MS);
  t.not(await valueNow(authorizations), first);
  authorizations.invalidate('a key that nobody asked for');
});

t.test('Web Push: FCM’s token for an account, and none for keys alone', async (t) => {
  let isWell = true;
  const peer = await startProviderPeer({
    script: (request) =>
      isWell
        ? answer(request, 200, { access_token: 'x', expires_in: 3_600 })
        : answer(request, 400, { error: 'invalid_grant' }),
  });
  t.teardown(() => peer.close());
  const origins = { ...DEFAULT_ORIGINS, oauth: peer.origin, ca: peer.ca };
  const { serviceAccount } = fcm;
  const both = webPushCredential(serviceAccount);
  const authorizations = new Authorizations(origins);
  t.same(await authorizations.current('keys', webPushCredential()), { ok: true, value: '' });
  t.equal(peer.received.length, 0);
  t.same(await authorizations.current('both', both), { ok: true, value: 'Bearer x' });
  t.same(await authorizations.current('fcm', fcm), { ok: true, value: 'Bearer x' });
  t.equal(peer.received.length, 1, 'one account, one token, whatever it is used for');

  isWell = false;
  const later = new Authorizations(origins);
  t.same(await later.current('both', both), { ok: true, value: '' }, 'the keys do without');
  const alone = { ...both, vapid: null };
  t.match(await later.current('alone', alone), { ok: false, reason: /invalid_grant/ });
});

t.test('a token that is over is never handed out', async (t) => {
  const { now, pass } = clock();
  const authorizations = new Authorizations(DEFAULT_ORIGINS, now);
  const first = await valueNow(authorizations);
  pass(61 * MINUTE_MS);
  t.not(await valueNow(authorizations), first);
});

t.test('APNs: a broken key is an answer', async (t) => {
  const authorizations = new Authorizations(DEFAULT_ORIGINS);
  t.match(await authorizations.current('a', { ...apns, privateKey: 'x' }), {
    ok: false,
    retryable: false,
  });
});

t.test('FCM: single flight, renewed five minutes before the end', async (t) => {
  const { now, pass } = clock();
  const { peer, origins } = await oauth();
  const authorizations = new Authorizations(origins, now);
  const ask = () => authorizations.current('f', fcm);
  const all = await Promise.all(Array.from({ length: 50 }, ask));
  t.same(new Set(all.map((one) => one.ok && one.value)), new Set(['Bearer token-1']));
  t.equal(peer.received.length, 1);
  pass(54 * MINUTE_MS);
  t.match(await ask(), { value: 'Bearer token-1' });
  t.equal(peer.received.length, 1);
  pass(2 * MINUTE_MS);
  t.match(await ask(), { value: 'Bearer token-1' }, 'nobody waits while the old one works');
  await poll(async () => {
    const current = await ask();
    return current.ok && current.value === 'Bearer token-2';
  });
  t.equal(peer.received.length, 2);
  await peer.close();
});

t.test('FCM: an invalidated token is replaced, but not in a storm', async (t) => {
  const { now, pass } = clock();
  const { peer, origins } = await oauth();
  const authorizations = new Authorizations(origins, now);
  await authorizations.current('f', fcm);
  authorizations.invalidate('f');
  t.match(await authorizations.current('f', fcm), { value: 'Bearer token-1' });
  pass(MINUTE_MS);
  t.match(await authorizations.current('f', fcm), { value: 'Bearer token-2' });
  t.equal(peer.received.length, 2);
  await peer.close();
});

t.test('FCM: a failure is remembered for a moment, an old token outlives it', async (t) => {
  const { now, pass } = clock();
  const status = { is: 503 };
  const { peer, origins } = await oauth(status);
  const authorizations = new Authorizations(origins, now);
  const ask = () => authorizations.current('f', fcm);
  t.match(await ask(), { ok: false, retryable: true });
  t.match(await ask(), { ok: false, retryable: true });
  t.equal(peer.received.length, 1);
  status.is = 200;
  pass(11_000);
  t.match(await ask(), { value: 'Bearer token-2' });
  status.is = 503;
  pass(58 * MINUTE_MS);
  t.match(await ask(), { value: 'Bearer token-2' });
  await poll(() => Promise.resolve(peer.received.length === 3));
  t.match(await ask(), { value: 'Bearer token-2' }, 'it works for two more minutes');
  pass(3 * MINUTE_MS);
  t.match(await ask(), { ok: false, reason: 'token request: status 503', retryable: true });
  await peer.close();
});

async function oauth(status = { is: 200 }) {
  const peer: ProviderPeer = await startProviderPeer({
    script: (request) =>
      answer(request, status.is, { access_token: `token-${request.number}`, expires_in: 3_600 }),
  });
  return { peer, origins: { ...DEFAULT_ORIGINS, oauth: peer.origin, ca: peer.ca } };
}

async function poll(isDone: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    if (await isDone()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('it did not come true in time');
}
