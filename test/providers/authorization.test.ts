/**
 * One token for all nodes: two `AuthorizationCache` on one store are two nodes; a third that comes
 * later is a restart.
 */

import { decodeJwt } from 'jose';
import type { Test } from 'tap';
import t from 'tap';
import { createSecrets } from '../../src/access/secrets.ts';
import type { Store } from '../../src/database/store.ts';
import { ProviderTokens } from '../../src/provider-credentials/provider-tokens.ts';
import { AuthorizationCache, signingTimeMs } from '../../src/providers/authorization.ts';
import { secrets } from '../support/api.ts';
import { DEFAULT_ORIGINS } from '../support/default-origins.ts';
import { onEachStore } from '../support/on-each-store.ts';
import { until } from '../support/poll.ts';
import {
  apnsCredential,
  fcmCredential,
  webPushCredential,
} from '../support/provider-credentials.ts';
import type { ProviderPeer } from '../support/provider-peer.ts';
import { answer, startProviderPeer } from '../support/provider-peer.ts';
import { settableClock } from '../support/set-clock.ts';

const MINUTE_MS = 60_000;
const apns = apnsCredential();
const fcm = fcmCredential();
const other = { ...fcm.serviceAccount, private_key_id: 'other' };

/**
 * Nodes on one database, and a time that passes for all of them: on their clocks, and for what is
 * stored.
 */
function sceneOf({ sql }: Store, origins = DEFAULT_ORIGINS) {
  let nowMs = Date.now();
  return {
    node: (key = secrets) =>
      new AuthorizationCache(origins, new ProviderTokens(sql, key), () => nowMs),
    async pass(ms: number): Promise<void> {
      nowMs += ms;
      await sql`
        update provider_tokens set
          minted_at = minted_at - by, refresh_at = refresh_at - by, expires_at = expires_at - by,
          minting_until = minting_until - by, frozen_until = frozen_until - by, retry_at = retry_at - by
        from make_interval(secs => ${ms}::float8 / 1000) as by`;
    },
  };
}

async function valueNow(node: AuthorizationCache, credential = apns, key = 'a'): Promise<string> {
  const current = await node.current(key, credential);
  if (!current.ok) throw new Error(current.reason);
  return current.value;
}

const becomes = (what: string, node: AuthorizationCache, isIt: (value: string) => boolean) =>
  until(what, async () => (isIt(await valueNow(node)) ? true : null));

t.test('on each store', (t) =>
  onEachStore(t, {
    'APNs: one token for all who ask on all nodes, and after a restart': async (t, store) => {
      const { node, pass } = sceneOf(store);
      const nodes = [node(), node(), node()];
      const values = await Promise.all(
        nodes.flatMap((one) => [valueNow(one), valueNow(one), valueNow(one, apns, 'b')]),
      );
      t.equal(new Set(values).size, 1);
      await pass(49 * MINUTE_MS);
      t.equal(await valueNow(node()), values[0], 'a new process takes what is there');
    },

    'APNs: renewed between 50 and 55 minutes, once for all; nobody waits': async (t, store) => {
      const { node, pass } = sceneOf(store);
      const [a, b] = [node(), node()];
      const first = await valueNow(a);
      t.equal(await valueNow(b), first);
      await pass(49 * MINUTE_MS + 59_000);
      t.equal(await valueNow(a), first);
      await pass(6 * MINUTE_MS);
      t.equal(await valueNow(a), first, 'it still works while the next one is made');
      await becomes('the successor', a, (value) => value !== first);
      const second = await valueNow(a);
      await becomes('the same on the other node', b, (value) => value === second);
    },

    'APNs: never two within 20 minutes, on any node, whatever the provider says': async (
      t,
      store,
    ) => {
      const { node, pass } = sceneOf(store);
      const [a, b] = [node(), node()];
      const first = await valueNow(a);
      await valueNow(b);
      await pass(10 * MINUTE_MS);
      for (const one of [a, b]) one.invalidate('a', first);
      t.same(await Promise.all([valueNow(a), valueNow(b), valueNow(node())]), [
        first,
        first,
        first,
      ]);
      await pass(11 * MINUTE_MS);
      const second = await valueNow(a);
      t.not(second, first);
      t.equal(await valueNow(b), second, 'the newest stored one is taken, none is made');
      b.invalidate('a', first);
      t.equal(
        await valueNow(b),
        second,
        'what is said of the old value is not said of the new one',
      );
      a.invalidate('a key that nobody asked for', second);
    },

    'a token that was made later than now counts as none, on all nodes': async (t, store) => {
      const { node, pass } = sceneOf(store);
      const set = settableClock(t);
      set(10 * MINUTE_MS);
      const one = node();
      const first = await valueNow(one);
      // The clock of the machine is set right, and that of the database with it.
      set(-10 * MINUTE_MS);
      await pass(-10 * MINUTE_MS);
      await store.sql`update provider_tokens set frozen_until = now() + interval '30 minutes'`;
      const second = await valueNow(one);
      t.not(second, first);
      t.equal(await valueNow(node()), second, 'after a restart');
      await pass(49 * MINUTE_MS);
      t.equal(await valueNow(one), second);
    },

    'APNs: too many tokens: the one there is stays, on all nodes, for 20 minutes': async (
      t,
      store,
    ) => {
      const { node, pass } = sceneOf(store);
      const [a, b] = [node(), node()];
      const first = await valueNow(a);
      await valueNow(b);
      await pass(50 * MINUTE_MS);
      await a.freeze('a');
      await a.freeze('a key that nobody asked for');
      await pass(5.5 * MINUTE_MS);
      for (const one of [a, b]) one.invalidate('a', first);
      t.same(await Promise.all([valueNow(a), valueNow(b)]), [first, first]);
      await pass(5 * MINUTE_MS);
      for (const one of [a, b, node()]) {
        t.match(await one.current('a', apns), { ok: false, retryable: true }, 'it is over');
      }
      await pass(10 * MINUTE_MS);
      t.not(await valueNow(b), first);
      t.equal(await valueNow(a), await valueNow(b));
    },

    'another SECRET_KEY: the token is not read, nor made too early': async (t, store) => {
      const { node, pass } = sceneOf(store);
      const first = await valueNow(node());
      const other = node(createSecrets('another secret of the tests, long enough'));
      t.match(await other.current('a', apns), { ok: false, retryable: true });
      await pass(21 * MINUTE_MS);
      t.not(await valueNow(other), first);
    },

    'a node that dies while it makes one: another makes it when the right has lapsed': async (
      t,
      store,
    ) => {
      const { node, pass } = sceneOf(store);
      const tokens = new ProviderTokens(store.sql, secrets);
      const first = await valueNow(node());
      await pass(56 * MINUTE_MS);
      const [{ identity = '' } = {}] = await store.sql<{ identity: string }[]>`
        select identity from provider_tokens`;
      const { id } = await tokens.read(identity, 0);
      const right = await tokens.claim(identity, id, 0);
      t.ok(right);
      t.equal(await tokens.claim(identity, id, 0), null, 'one at a time');
      const survivor = node();
      t.equal(await valueNow(survivor), first, 'it still works');
      await pass(MINUTE_MS);
      await becomes('the successor', survivor, (value) => value !== first);
      if (right === null) return;
      const late = { value: 'late', refreshAtMs: right.nowMs, expiresAtMs: right.nowMs + 1_000 };
      t.notOk(await tokens.keep(identity, right, late), 'who comes back late has lost his right');
      t.not((await tokens.read(identity, 0)).value, 'late');
    },

    'what is stored is sealed, and opens for its identity only': async (t, store) => {
      const value = await valueNow(sceneOf(store).node());
      const rows = await store.sql<{ text: string }[]>`
        select encode(value_sealed, 'escape') || t::text as text from provider_tokens t`;
      t.equal(rows.length, 1);
      t.notOk(rows[0]?.text.includes(value.slice('bearer '.length, 40)));
      await store.sql`update provider_tokens set identity = 'another'`;
      t.equal((await new ProviderTokens(store.sql, secrets).read('another', 0)).value, null);
    },

    'FCM: single flight across nodes, renewed five minutes before the end': async (t, store) => {
      const { peer, origins } = await oauth(t);
      const { node, pass } = sceneOf(store, origins);
      const nodes = [node(), node()];
      const all = await Promise.all(
        nodes.flatMap((one) => Array.from({ length: 20 }, () => one.current('f', fcm))),
      );
      t.same(new Set(all.map((one) => one.ok && one.value)), new Set(['Bearer token-1']));
      t.equal(peer.received.length, 1);
      await pass(54 * MINUTE_MS);
      t.match(await node().current('f', fcm), { value: 'Bearer token-1' });
      await pass(2 * MINUTE_MS);
      for (const one of nodes) {
        t.match(await one.current('f', fcm), { value: 'Bearer token-1' }, 'nobody waits');
        await until('the next one', async () => {
          const current = await one.current('f', fcm);
          return current.ok && current.value === 'Bearer token-2' ? true : null;
        });
      }
      t.equal(peer.received.length, 2);
    },

    'Web Push: FCM’s token for an account, and none for keys alone': async (t, store) => {
      const status = { is: 200 };
      const { peer, origins } = await oauth(t, status);
      const { node } = sceneOf(store, origins);
      const one = node();
      const both = webPushCredential(fcm.serviceAccount);
      t.same(await one.current('keys', webPushCredential()), { ok: true, value: '' });
      t.equal(peer.received.length, 0);
      t.same(await one.current('both', both), { ok: true, value: 'Bearer token-1' });
      t.same(await one.current('fcm', fcm), { ok: true, value: 'Bearer token-1' });
      t.equal(peer.received.length, 1, 'one account, one token, whatever it is used for');

      status.is = 400;
      const { serviceAccount } = fcm;
      const other = webPushCredential({ ...serviceAccount, private_key_id: 'another' });
      t.same(await one.current('other', other), { ok: true, value: '' }, 'the keys do without');
      const alone = { ...other, vapid: null };
      t.match(await one.current('alone', alone), { ok: false, reason: /400/ });
    },

    'FCM: one odd refusal of an account that got a token before is no fault': async (t, store) => {
      const status = { is: 200, refusal: 'unauthorized_client' };
      const { origins } = await oauth(t, status);
      const { node, pass } = sceneOf(store, origins);
      const one = node();
      await one.current('f', fcm);
      status.is = 400;
      await pass(61 * MINUTE_MS);
      t.match(await one.current('f', fcm), { ok: false, retryable: true });
      t.match(await node().current('f', fcm), { ok: false, retryable: true }, 'everywhere');
      status.is = 200;
      await pass(11_000);
      t.match(await one.current('f', fcm), { ok: true });

      status.is = 400;
      await pass(61 * MINUTE_MS);
      for (let tries = 0; tries < 2; tries += 1) {
        t.match(await one.current('f', fcm), { ok: false, retryable: true });
        await pass(30_500);
      }
      t.match(await one.current('f', fcm), { ok: false, retryable: false }, 'three in a minute');
      t.match(await node().current('g', { ...fcm, serviceAccount: other }), { retryable: false });
    },

    'FCM: an invalidated token is replaced, but not in a storm': async (t, store) => {
      const { peer, origins } = await oauth(t);
      const { node, pass } = sceneOf(store, origins);
      const [a, b] = [node(), node()];
      for (const one of [a, b]) {
        await one.current('f', fcm);
        one.invalidate('f', 'Bearer token-1');
        t.match(await one.current('f', fcm), { value: 'Bearer token-1' });
      }
      await pass(MINUTE_MS);
      t.match(await a.current('f', fcm), { value: 'Bearer token-2' });
      t.match(await b.current('f', fcm), { value: 'Bearer token-2' });
      t.equal(peer.received.length, 2);
    },

    'FCM: a failure answers on all nodes for a moment, an old token outlives it': async (
      t,
      store,
    ) => {
      const status = { is: 503 };
      const { peer, origins } = await oauth(t, status);
      const { node, pass } = sceneOf(store, origins);
      const [a, b] = [node(), node()];
      t.match(await a.current('f', fcm), { ok: false, retryable: true });
      t.match(await b.current('f', fcm), { ok: false, retryable: true });
      t.equal(peer.received.length, 1);
      status.is = 200;
      await pass(11_000);
      t.match(await a.current('f', fcm), { value: 'Bearer token-2' });
      status.is = 503;
      await pass(58 * MINUTE_MS);
      t.match(await a.current('f', fcm), { value: 'Bearer token-2' });
      await until('asked again', () => (peer.received.length === 3 ? true : null));
      t.match(await b.current('f', fcm), { value: 'Bearer token-2' }, 'for two more minutes');
      await pass(3 * MINUTE_MS);
      t.match(await a.current('f', fcm), { ok: false, retryable: true });
    },
  }),
);

t.test('without the database: an answer, and what a node holds goes on', async (t) => {
  let isAway = true;
  const away = () => Promise.reject(new Error('away'));
  const id = '00000000-0000-0000-0000-000000000001';
  const ends = { refreshInMs: 0, expiresInMs: 60_000, mintInMs: 1 };
  const shared = { id, value: 'bearer one', ageMs: 0, ...ends };
  const store = {
    read: () =>
      isAway ? away() : Promise.resolve({ ...shared, isBeingMinted: false, failure: null }),
    claim: away,
    keep: away,
    fail: away,
    freeze: away,
  };
  let nowMs = 0;
  const node = new AuthorizationCache(DEFAULT_ORIGINS, store, () => nowMs);
  t.match(await node.current('a', apns), { ok: false, reason: /away/, retryable: true });
  isAway = false;
  nowMs = 11_000;
  t.match(await node.current('a', apns), { value: 'bearer one' });
  isAway = true;
  nowMs = 22_000;
  t.match(await node.current('a', apns), { value: 'bearer one' });
  nowMs = 72_000;
  t.match(await node.current('a', apns), { ok: false, retryable: true });
});

t.test('APNs: apps of one team with one key share one token; a broken key is an answer', (t) =>
  onEachStore(t, {
    'it is so': async (t, store) => {
      const node = sceneOf(store).node();
      const mine = await valueNow(node, apns, 'app 1');
      t.equal(await valueNow(node, { ...apns, bundleId: 'other' }, 'app 2'), mine);
      t.not(await valueNow(node, { ...apns, keyId: 'OTHERKEY12' }, 'app 3'), mine);
      const broken = { ...apns, privateKey: 'x' };
      t.match(await node.current('a', broken), { ok: false, retryable: false });
      const { iat = 0 } = decodeJwt(mine.slice('bearer '.length));
      t.ok(iat * 1_000 <= Date.now(), 'not issued in the future');
    },
  }),
);

t.test('of two clocks the earlier one signs, unless it is far behind', (t) => {
  const hour = 3_600_000;
  t.equal(signingTimeMs(10 * hour, 10 * hour + 5_000), 10 * hour);
  t.equal(signingTimeMs(10 * hour, 10 * hour - 5_000), 10 * hour - 5_000);
  t.equal(signingTimeMs(10 * hour, 10 * hour - 600_000), 10 * hour - 600_000);
  t.equal(signingTimeMs(10 * hour, 9 * hour), 9.5 * hour);
  t.end();
});

async function oauth(t: Test, status: { is: number; refusal?: string } = { is: 200 }) {
  const peer: ProviderPeer = await startProviderPeer({
    script: (request) =>
      answer(
        request,
        status.is,
        status.is === 200 || status.refusal === undefined
          ? { access_token: `token-${request.number}`, expires_in: 3_600 }
          : { error: status.refusal },
      ),
  });
  t.teardown(() => peer.close());
  return { peer, origins: { ...DEFAULT_ORIGINS, oauth: peer.origin, ca: peer.ca } };
}
