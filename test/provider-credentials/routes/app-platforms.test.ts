/**
 * Provider credentials over real HTTP on every store, checked with the simulator, which knows only
 * its own accounts.
 */

import type { Test } from 'tap';
import t from 'tap';
import { appResourceRoutes } from '../../../src/catalogue/routes/app-resources.ts';
import type { Store } from '../../../src/database/store.ts';
import { createCheck } from '../../../src/provider-credentials/provider-check.ts';
import { readProviderCredential } from '../../../src/provider-credentials/provider-credentials.ts';
import { appPlatformRoutes } from '../../../src/provider-credentials/routes/app-platforms.ts';
import { addTenant, secrets } from '../../support/api.ts';
import { makeKey } from '../../support/keys.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { until } from '../../support/poll.ts';
import { apnsCredential, webPushCredential } from '../../support/provider-credentials.ts';
import type { Answer } from '../../support/resources.ts';
import { openResources, pathsOf } from '../../support/resources.ts';
import { originsOf } from '../../support/sending.ts';
import { freshSimulator } from '../../support/simulator.ts';

const simulator = await freshSimulator();
const origins = originsOf(simulator);

async function open(t: Test, store: Store) {
  const { sql } = store;
  // The schema puts it there, and each test begins with every table empty.
  await sql`insert into access_revision default values on conflict do nothing`;
  const parts = { sql, secrets, origins, check: createCheck(sql, secrets, origins) };
  const routes = [...appPlatformRoutes(parts), ...appResourceRoutes(parts)];
  const resources = await openResources(t, store, 'acme', routes);
  const { ask, tenant } = resources;
  const { appId } = tenant;
  await ask('PATCH', `apps/${appId}`, { platformIds: [3, 7, 15] });
  const path = (platformId: number) => `apps/${appId}/platforms/${platformId}`;
  /** A client has a provider asked once a second: it comes again until it may. */
  const patiently = (method: string, to: string, body?: unknown): Promise<Answer> =>
    until(to, async () => {
      const answer = await ask(method, to, body);
      return answer.status === 429 ? null : answer;
    });
  return {
    ...resources,
    appId,
    path,
    put: (platformId: number, body: unknown) => patiently('PUT', path(platformId), body),
    probe: (platformId: number) => patiently('POST', `${path(platformId)}/probe`),
    stored: (platformId: number) => readProviderCredential(sql, secrets, appId, platformId),
  };
}

const { kind: _, ...apnsOfNobody } = apnsCredential();
const apns = { ...simulator.accounts.apns, environment: 'production' };
const { serviceAccount } = simulator.accounts.fcm;
const ownAccount = { ...serviceAccount, token_uri: `${origins.oauth}/token` };

/** Whether none of the secrets is in what was answered. */
const isWithout = (answer: Answer, ...held: readonly string[]): boolean =>
  held.every(
    (secret) => !JSON.stringify(answer.body).includes(JSON.stringify(secret).slice(1, -1)),
  );

await onEachStore(t, {
  'APNs: put and checked, seen without its key, probed, taken away': async (t, store) => {
    const { ask, path, put, probe, stored } = await open(t, store);
    const none = { platformId: 3, hasCredential: false };
    t.same((await ask('GET', path(3))).body, none);
    t.match((await probe(3)).body, { ok: false, note: /^MissingCredential/ });

    const { privateKey, ...publicPart } = apns;
    const made = await put(3, apns);
    t.equal(made.status, 200);
    t.match(made.body, {
      platformId: 3,
      hasCredential: true,
      updatedAt: Number,
      check: { ok: true, note: 'The provider accepts it.', at: Number },
    });
    t.same(made.body.credential, publicPart);
    t.same((await ask('GET', path(3))).body, made.body);
    t.ok(isWithout(made, privateKey));
    t.match(await stored(3), { kind: 'opened', credential: { privateKey } });
    const [row] = await store.sql<{ sealed: Buffer }[]>`
      select credential_sealed as sealed from app_platforms where credential_sealed is not null`;
    t.notOk(row?.sealed.toString('latin1').includes('PRIVATE KEY'), 'stored encrypted');
    t.same((await probe(3)).body, { ok: true, note: 'The provider accepts it.' });

    t.equal((await ask('DELETE', path(3))).status, 204);
    t.same((await ask('GET', path(3))).body, none);
    t.match(await stored(3), { kind: 'none' });
    t.equal((await ask('DELETE', path(3))).status, 204, 'again');
  },

  'what the provider refuses is stored all the same, and the answer says so': async (t, store) => {
    const { ask, path, put, probe } = await open(t, store);
    const refused = await put(3, apnsOfNobody);
    t.match(refused, {
      status: 200,
      body: { hasCredential: true, check: { ok: false, note: /InvalidProviderToken/ } },
    });
    t.ok(isWithout(refused, apnsOfNobody.privateKey));
    t.match((await probe(3)).body, { ok: false });
    t.match((await ask('GET', path(3))).body, { check: { ok: false } });
  },

  'FCM and Web Push': async (t, store) => {
    const { put, probe, stored } = await open(t, store);
    const fcm = await put(15, { serviceAccount: ownAccount });
    t.match(fcm.body, { check: { ok: true } });
    const { project_id, private_key_id, client_email } = serviceAccount;
    const account = { project_id, private_key_id, client_email };
    t.same(fcm.body.credential, { serviceAccount: account });
    t.ok(isWithout(fcm, serviceAccount.private_key));
    t.match((await probe(15)).body, { ok: true });

    const { vapid } = webPushCredential();
    const web = await put(7, { vapid, serviceAccount: ownAccount });
    t.same(web.body.credential, {
      vapid: { publicKey: vapid?.publicKey, subject: vapid?.subject },
      serviceAccount: account,
    });
    t.ok(isWithout(web, vapid?.privateKey ?? '', serviceAccount.private_key));
    t.match(await stored(7), { kind: 'opened', credential: { kind: 'webpush', vapid } });
  },

  'what is not valid is said, without its secret, and the old one stays': async (t, store) => {
    const { ask, path, put, stored } = await open(t, store);
    await put(15, { serviceAccount: ownAccount });
    const before = await stored(15);
    const elsewhere = { ...ownAccount, token_uri: 'https://evil.example/token' };
    const { vapid } = webPushCredential();
    for (const [platformId, body, faulty] of [
      [3, { ...apns, keyId: 'short' }, 'keyId'],
      [3, { ...apns, privateKey: `${apns.privateKey.slice(0, 60)}` }, 'privateKey'],
      [3, { ...apns, enviroment: 'sandbox' }, 'enviroment'],
      [3, { ...apns, graceHours: 169 }, 'graceHours'],
      [3, { ...apns, expiresAt: 1_800_000_000 }, 'expiresAt'],
      [3, [], ''],
      [15, {}, 'serviceAccount'],
      [15, { serviceAccount: elsewhere }, 'serviceAccount.token_uri'],
      [15, { serviceAccount: { ...ownAccount, private_key: 'x' } }, 'serviceAccount.private_key'],
      [7, { serviceAccount: elsewhere }, 'serviceAccount.token_uri'],
      [7, { vapid: { ...vapid, subject: 'me' } }, 'vapid.subject'],
      [7, {}, ''],
    ] as const) {
      const answer = await ask('PUT', path(platformId), body);
      const told = JSON.stringify(body).slice(0, 60);
      t.equal(answer.status, 400, told);
      t.same(pathsOf(answer), [faulty], told);
      t.ok(isWithout(answer, apns.privateKey.slice(30, 60), ownAccount.private_key), told);
    }
    const { errors } = (await ask('PUT', path(15), { serviceAccount: elsewhere })).body;
    t.match(errors, [{ message: new RegExp(`must be at ${origins.oauth}`) }]);
    t.same(await stored(15), before);
  },

  'a new key of the same account: the one before stands by for its grace': async (t, store) => {
    const { put } = await open(t, store);
    await put(3, apnsOfNobody);
    const { kind: _, ...next } = apnsCredential();
    const expiresAt = Date.now() + 86_400_000;
    const { body } = await put(3, { ...next, graceHours: 2, expiresAt });
    t.equal(body.expiresAt, expiresAt);
    const inHours = (body.fallbackUntil - body.updatedAt) / 3_600_000;
    t.ok(Math.abs(inHours - 2) < 0.01, `${inHours} hours`);
  },

  'whose app, on which platform, and who may': async (t, store) => {
    const { ask, appId, path, tenant } = await open(t, store);
    const other = await addTenant(store.sql, 'other');
    for (const to of [
      `apps/${other.appId}/platforms/3`,
      `apps/${appId}/platforms/4`,
      `apps/${appId}/platforms/x`,
      `apps/x/platforms/3`,
    ]) {
      for (const [method, end] of [
        ['GET', ''],
        ['PUT', ''],
        ['DELETE', ''],
        ['POST', '/probe'],
      ] as const) {
        const body = method === 'PUT' ? apns : undefined;
        t.equal((await ask(method, to + end, body)).status, 404, `${method} ${to}${end}`);
      }
    }
    const statuses = async (token: string) => [
      (await ask('GET', path(3), undefined, token)).status,
      (await ask('PUT', path(3), {}, token)).status,
      (await ask('DELETE', path(3), undefined, token)).status,
    ];
    const key = (rights: Parameters<typeof makeKey>[2]) => makeKey(store.sql, tenant, rights);
    t.same(await statuses(await key({ scopes: ['read'] })), [200, 403, 403]);
    t.same(await statuses(await key({ scopes: ['read', 'admin'] })), [200, 400, 204]);
    const ofApp = { scopes: ['read', 'admin'], appIds: [appId] } as const;
    t.same(await statuses(await key(ofApp)), [200, 400, 204]);
    t.same(await statuses(await key({ ...ofApp, appIds: [appId + 1] })), [403, 403, 403]);
    const ofTag = { scopes: ['read', 'admin'], tagIds: [1] } as const;
    t.same(await statuses(await key(ofTag)), [403, 403, 403]);
  },

  'a client has a provider asked once a second': async (t, store) => {
    const { ask, path } = await open(t, store);
    const answers = await Promise.all([1, 2, 3].map(() => ask('POST', `${path(3)}/probe`)));
    const statuses = answers.map(({ status }) => status).sort();
    t.equal(statuses[0], 200);
    t.ok(statuses.includes(429), statuses.join(' '));
    const refused = answers.find(({ status }) => status === 429);
    t.equal(refused?.headers.get('retry-after'), '1');
  },
});
