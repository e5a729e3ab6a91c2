/**
 * A credential is asked about with the simulator, which checks it as the providers do, and with
 * peers that are worse.
 */

import type { Test } from 'tap';
import t from 'tap';
import type { SqlPool } from '../../src/database/sql.ts';
import { wasNobodyAsked } from '../../src/provider-credentials/credential-check.ts';
import { createCheck } from '../../src/provider-credentials/provider-check.ts';
import { writeProviderCredential } from '../../src/provider-credentials/provider-credentials.ts';
import { readCredentialInUse, refuse } from '../../src/provider-credentials/rotation.ts';
import { readCredentialStates } from '../../src/provider-credentials/sql/read-credential-states.ts';
import type { ProviderOrigins } from '../../src/providers/origins.ts';
import type { ProviderCredential } from '../../src/providers/providers.ts';
import { addTenant, secrets } from '../support/api.ts';
import { onEachStore } from '../support/on-each-store.ts';
import {
  apnsCredential,
  fcmCredential,
  webPushCredential,
} from '../support/provider-credentials.ts';
import { answer, startProviderPeer } from '../support/provider-peer.ts';
import { credentialOf, originsOf } from '../support/sending.ts';
import { freshSimulator } from '../support/simulator.ts';

const simulator = await freshSimulator();

async function sceneOf(sql: SqlPool, origins: ProviderOrigins = originsOf(simulator)) {
  const { appId } = await addTenant(sql, 'demo');
  await sql`insert into app_platforms (app_id, platform_id) values (${appId}, 7)`;
  const check = createCheck(sql, secrets, origins);
  return {
    appId,
    put: (platformId: number, credential: ProviderCredential) =>
      writeProviderCredential(sql, secrets, appId, platformId, credential),
    check: (platformId: number) => check({ appId, platformId }),
    stateOf: async (platformId: number) =>
      (await readCredentialStates(sql, appId, 10)).find((state) => state.platformId === platformId),
  };
}

t.test('on each store', (t) =>
  onEachStore(t, {
    'what the provider takes is healthy, on both': async (t: Test, { sql }) => {
      const { put, check, stateOf } = await sceneOf(sql);
      for (const platformId of [3, 15]) {
        await put(platformId, credentialOf(simulator, platformId));
        t.match(await check(platformId), { isHealthy: true, note: /^The provider accepts it/ });
        t.match(await stateOf(platformId), { isHealthy: true, checkedAtMs: Number });
      }
    },

    'what it refuses is not, and the note says what to fix': async (t: Test, { sql }) => {
      const { put, check, stateOf } = await sceneOf(sql);
      t.match(await check(3), { isHealthy: false, note: /^MissingCredential: / });
      await put(3, apnsCredential());
      t.match(await check(3), {
        isHealthy: false,
        note: /^The provider refuses it\. InvalidProviderToken: team id, key id/,
      });
      await put(15, fcmCredential());
      t.match(await check(15), { isHealthy: false, note: /^It cannot sign in: token request: / });
      t.match(await stateOf(15), { isHealthy: false, checkNote: /^It cannot sign in/ });
    },

    'of a simulator that refuses it the note says how to reach the real one': async (
      t: Test,
      { sql },
    ) => {
      const advice = /\. This answer came from the simulator, .* DEMO=0 .* real provider\.$/;
      const { put, check } = await sceneOf(sql);
      t.match(await check(15), { note: /^MissingCredential: [^.]*\.$/ }, 'nobody was asked');
      await put(3, credentialOf(simulator, 3));
      t.match(await check(3), { note: 'The provider accepts it.' });
      await put(3, apnsCredential());
      t.match(await check(3), { isHealthy: false, note: advice });
      await put(15, fcmCredential());
      t.match(await check(15), { isHealthy: false, note: advice });

      const real = createCheck(sql, secrets, { ...originsOf(simulator), simulated: [] });
      const { appId } = await addTenant(sql, 'real');
      await writeProviderCredential(sql, secrets, appId, 3, apnsCredential());
      const { note } = await real({ appId, platformId: 3 });
      t.match(note, /^The provider refuses it/);
      t.notMatch(note, advice);
    },

    'a VAPID key that nobody was asked about: the note says so': async (t: Test, { sql }) => {
      const { put, check } = await sceneOf(sql);
      await put(7, webPushCredential());
      t.match(await check(7), { isHealthy: null, note: /^Nobody was asked about the VAPID key: / });
      t.ok(wasNobodyAsked(await check(7)));
      const { accounts } = simulator;
      await put(7, webPushCredential(accounts.fcm.serviceAccount));
      t.match(await check(7), {
        isHealthy: true,
        note: /^The provider accepts it.*\. Nobody was asked about the VAPID key: /,
      });
    },

    'one that cannot be asked is neither': async (t: Test, { sql }) => {
      const peer = await startProviderPeer({ script: (request) => answer(request, 503) });
      const origins = { ...originsOf(simulator), apnsProduction: peer.origin, ca: peer.ca };
      const { put, check } = await sceneOf(sql, origins);
      await put(3, apnsCredential());
      t.match(await check(3), {
        isHealthy: null,
        note: 'The provider could not be asked: status 503.',
      });
      await peer.close();
      t.match(await check(3), { isHealthy: null, note: /refuses connections/ });
    },

    'a key that was refused too early is used again when it is taken': async (t: Test, { sql }) => {
      const { appId, put, check } = await sceneOf(sql);
      const right = credentialOf(simulator, 3);
      if (right.kind !== 'apns') throw new Error('it is');
      await put(3, { ...right, keyId: 'KEY0000001' });
      await put(3, right);
      const inUse = () => readCredentialInUse(sql, secrets, appId, 3);
      const opened = await inUse();
      if (opened.kind !== 'opened') throw new Error(opened.kind);
      await refuse(sql, { appId, platformId: 3 }, opened.version, 'InvalidProviderToken');
      t.match(await inUse(), { isFallback: true });
      t.match(await check(3), { isHealthy: true });
      t.match(await inUse(), { credential: right, isFallback: false });
    },
  }),
);
