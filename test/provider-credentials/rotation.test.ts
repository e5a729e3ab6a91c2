/** Two credentials valid at once: which one is sent with, from put to grace's end. */

import type { Test } from 'tap';
import t from 'tap';
import type { SqlPool } from '../../src/database/sql.ts';
import { writeProviderCredential } from '../../src/provider-credentials/provider-credentials.ts';
import { readCredentialInUse, refuse } from '../../src/provider-credentials/rotation.ts';
import { writeUses } from '../../src/provider-credentials/sql/credential-health.ts';
import { acceptCredential } from '../../src/provider-credentials/sql/provider-credential.ts';
import type { ApnsCredential } from '../../src/providers/apns/credential.ts';
import type { ProviderCredential } from '../../src/providers/providers.ts';
import { addTenant, secrets } from '../support/api.ts';
import { onEachStore } from '../support/on-each-store.ts';
import { apnsCredential, fcmCredential } from '../support/provider-credentials.ts';

const old = apnsCredential();
const fresh: ApnsCredential = { ...apnsCredential(), keyId: 'KEY7654321' };

async function sceneOf(sql: SqlPool, platformId = 3) {
  const { appId } = await addTenant(sql, 'demo');
  return {
    put: (credential: ProviderCredential | null, graceHours = 72) =>
      writeProviderCredential(sql, secrets, appId, platformId, credential, {
        graceHours,
        expiresAtMs: null,
      }),
    inUse: () => readCredentialInUse(sql, secrets, appId, platformId),
    async refused(reason = 'InvalidProviderToken') {
      const opened = await readCredentialInUse(sql, secrets, appId, platformId);
      if (opened.kind !== 'opened') throw new Error(opened.kind);
      const place = { appId, platformId };
      return { opened, isNew: await refuse(sql, place, opened.version, reason), place };
    },
  };
}

const keyOf = (inUse: { readonly kind: string; readonly credential?: ProviderCredential }) =>
  inUse.credential?.kind === 'apns' ? inUse.credential.keyId : inUse.kind;

t.test('on each store', (t) =>
  onEachStore(t, {
    'one that sends were accepted with lately, and not the one before it': async (
      t: Test,
      { sql },
    ) => {
      const { put, inUse, refused } = await sceneOf(sql);
      await put(old);
      const { place } = await refused();
      const accepted = async (minutesAgo: number) => {
        await writeUses(sql, [{ ...place, wasAccepted: true, fault: null }]);
        await sql`
          update credential_health set accepted_at = now() - make_interval(mins => ${minutesAgo}::int)`;
        return inUse();
      };
      t.match(await accepted(0), { wasAcceptedLately: false }, 'it may be of the one before');
      await sql`update app_platforms set credential_updated_at = now() - interval '1 hour'`;
      t.match(await accepted(0), { wasAcceptedLately: true });
      t.match(await accepted(9), { wasAcceptedLately: true });
      t.match(await accepted(11), { wasAcceptedLately: false });
      t.match(await accepted(-5), { wasAcceptedLately: false }, 'by a clock that was ahead');
      await accepted(0);
      await put(fresh);
      t.match(await inUse(), { wasAcceptedLately: false });
    },

    'the new one is used; refused, the old one is, until its grace ends': async (
      t: Test,
      { sql },
    ) => {
      const { put, inUse, refused } = await sceneOf(sql);
      t.same(await inUse(), { kind: 'none' });
      await put(old);
      t.match(await inUse(), { hasFallback: false, isFallback: false });
      t.notOk((await refused()).isNew, 'there is nothing to fall back to');
      await put(fresh);
      t.match(await inUse(), { credential: fresh, hasFallback: true, isFallback: false });
      const { isNew, opened, place } = await refused();
      t.ok(isNew);
      t.match(await inUse(), { credential: old, hasFallback: false, isFallback: true });
      t.notOk((await refused()).isNew, 'said again it is nothing new');

      await acceptCredential(sql, place.appId, place.platformId, opened.version);
      t.match(await inUse(), { credential: fresh, hasFallback: true });
      await refused();
      await sql`update app_platforms set previous_until = now()`;
      t.match(await inUse(), { credential: fresh, hasFallback: false, isFallback: false });
    },

    'a refusal of one credential is not one of its successor': async (t: Test, { sql }) => {
      const { put, inUse, refused } = await sceneOf(sql);
      await put(old);
      await put(fresh);
      const { opened, place } = await refused();
      await put({ ...apnsCredential(), keyId: 'KEY0000003' });
      t.equal(keyOf(await inUse()), 'KEY0000003');
      t.notOk(await refuse(sql, place, opened.version, 'late'));
      t.equal(keyOf(await inUse()), 'KEY0000003');
      t.ok((await refused()).isNew);
      t.equal(
        keyOf(await inUse()),
        old.keyId,
        'the one that was in use, not the one that was refused',
      );
      await put({ ...apnsCredential(), keyId: 'KEY0000004' });
      t.equal(keyOf(await inUse()), 'KEY0000004');
      await refused();
      t.equal(keyOf(await inUse()), old.keyId, 'however many are refused');
    },

    'the fallback is the one before, not the one before that': async (t: Test, { sql }) => {
      const { put, inUse, refused } = await sceneOf(sql);
      await put(old);
      await put(fresh);
      await put({ ...apnsCredential(), keyId: 'KEY0000003' });
      await refused();
      t.equal(keyOf(await inUse()), fresh.keyId);
    },

    'only the same account may stand in; the same one again changes nothing': async (
      t: Test,
      { sql },
    ) => {
      const { put, inUse } = await sceneOf(sql);
      await put(old);
      for (const other of [
        { ...fresh, teamId: 'TEAM654321' },
        { ...fresh, bundleId: 'com.example.other' },
        { ...fresh, environment: 'sandbox' as const },
      ]) {
        await put(other);
        t.match(await inUse(), { hasFallback: false }, JSON.stringify(other.bundleId));
      }
      await put(old);
      await put(fresh);
      await put(fresh);
      t.match(await inUse(), { credential: fresh, hasFallback: true });
      await put({ ...old, keyId: 'KEY0000003' }, 0);
      t.match(await inUse(), { hasFallback: false }, 'no grace, no fallback');
      await put(null);
      t.same(await inUse(), { kind: 'none' });
      await put(old);
      t.match(await inUse(), { hasFallback: false }, 'removed is removed');
    },

    'FCM: a new key of the same project': async (t: Test, { sql }) => {
      const { put, inUse } = await sceneOf(sql, 15);
      const [one, two] = [fcmCredential(), fcmCredential()];
      await put(one);
      await put(two);
      t.match(await inUse(), { credential: two, hasFallback: true });
      await put({ ...one, serviceAccount: { ...one.serviceAccount, project_id: 'another' } });
      t.match(await inUse(), { hasFallback: false });
    },

    'puts at the same moment: each is whole, and one is before the other': async (
      t: Test,
      { sql },
    ) => {
      const { put, inUse } = await sceneOf(sql);
      await put(old);
      const [a, b] = [fresh, { ...apnsCredential(), keyId: 'KEY0000003' }];
      await Promise.all([put(a), put(b)]);
      t.match(await inUse(), { hasFallback: true });
      t.ok([a.keyId, b.keyId].includes(keyOf(await inUse())));
    },
  }),
);
