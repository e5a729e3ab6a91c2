/** The demo client, with which a newcomer's first `curl` works, and the text that describes it. */

import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProviderAccounts } from '../../../packages/simulator/src/accounts.ts';
import { createAccounts, GOOGLE_TOKEN_URI } from '../../../packages/simulator/src/accounts.ts';
import type { Simulator } from '../../../packages/simulator/src/simulator.ts';
import { PLATFORMS } from '../../../packages/std/src/platforms.ts';
import type { ShownCredential } from '../../access/credentials.ts';
import { createCredential, revealCredential } from '../../access/credentials.ts';
import type { Secrets } from '../../access/secrets.ts';
import { listApps } from '../../catalogue/list-apps.ts';
import { insertApp } from '../../catalogue/sql/insert-app.ts';
import { insertTagGroups } from '../../catalogue/sql/write-groups.ts';
import { insertTags } from '../../catalogue/write-tags.ts';
import { findClient } from '../../clients/find-client.ts';
import { insertClient } from '../../clients/insert-client.ts';
import { raiseCatalogueVersion } from '../../clients/lock-client.ts';
import { nextObjectIds } from '../../database/object-ids.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import {
  readProviderCredential,
  writeProviderCredential,
} from '../../provider-credentials/provider-credentials.ts';
import type { ApnsCredential } from '../../providers/apns/credential.ts';
import type { FcmCredential } from '../../providers/fcm/credential.ts';

export interface Demo {
  readonly clientId: string;
  readonly appId: number;
  readonly platformIds: readonly number[];
  readonly tagIds: readonly number[];
  readonly tagSourceIds: readonly string[];
  readonly apiUser: ShownCredential;
  readonly superUser: ShownCredential;
}

export const DEMO_SLUG = 'demo';
const DEMO_CLIENT = { slug: DEMO_SLUG, name: 'Demo' };
const PLATFORM_IDS = [PLATFORMS.apns, PLATFORMS.fcm];

/**
 * All or nothing. A simulator's accounts always replace the app's credentials; otherwise an
 * existing app keeps its own, and a new one gets made-up ones.
 */
export async function ensureDemo(
  sql: SqlPool,
  secrets: Secrets,
  given: ProviderAccounts | null = null,
  client: { readonly slug: string; readonly name: string } = DEMO_CLIENT,
): Promise<Demo> {
  const accounts = given ?? (await createAccounts());
  await transact(sql, (tx) => makeDemo(tx, secrets, accounts, client));
  const demo = await readDemo(sql, secrets, client.slug);
  if (given !== null) await putAccounts(sql, secrets, demo.appId, given);
  return demo;
}

/** The accounts of the demo app's credentials: a simulator beside this engine must accept them. */
export async function readDemoAccounts(
  sql: Sql,
  secrets: Secrets,
  { appId }: Demo,
): Promise<ProviderAccounts | null> {
  const apns = await readProviderCredential(sql, secrets, appId, PLATFORMS.apns);
  const fcm = await readProviderCredential(sql, secrets, appId, PLATFORMS.fcm);
  if (apns.kind !== 'opened' || fcm.kind !== 'opened') return null;
  return accountsOf(apns.credential as ApnsCredential, fcm.credential as FcmCredential);
}

async function makeDemo(
  tx: Sql,
  secrets: Secrets,
  accounts: ProviderAccounts,
  { slug, name }: { readonly slug: string; readonly name: string },
): Promise<void> {
  const clientId = await insertClient(tx, { slug, name });
  if (clientId === null) return;
  const owner = { clientId, clientSlug: slug };
  const appId = await insertApp(tx, { clientId, name: 'Demo', platformIds: PLATFORM_IDS });
  await createCredential(tx, secrets, { ...owner, appId: null });
  await createCredential(tx, secrets, { ...owner, appId });
  await makeTags(tx, clientId);
  await raiseCatalogueVersion(tx, clientId);
  await putAccounts(tx, secrets, appId, accounts);
}

async function putAccounts(
  sql: Sql,
  secrets: Secrets,
  appId: number,
  { apns, fcm }: ProviderAccounts,
): Promise<void> {
  await writeProviderCredential(sql, secrets, appId, PLATFORMS.apns, {
    kind: 'apns',
    ...apns,
    environment: 'production',
  });
  await writeProviderCredential(sql, secrets, appId, PLATFORMS.fcm, { kind: 'fcm', ...fcm });
}

/** One tag in no tag group, one in a group, two in a group below that one. */
async function makeTags(tx: Sql, clientId: number): Promise<void> {
  const [breaking = 0, tennis = 0, goals = 0, results = 0, sports = 0, football = 0] =
    (await nextObjectIds(tx, clientId, 6)) ?? [];
  const group = (id: number, name: string, sourceId: string, parentId: number | null) => ({
    id,
    clientId,
    name,
    sourceId,
    parentId,
  });
  const tag = (id: number, name: string, sourceId: string, groupId: number | null) => ({
    id,
    clientId,
    name,
    sourceId,
    groupId,
    optionalParameters: null,
    expiresAtMs: null,
    appIds: null,
  });
  await insertTagGroups(tx, clientId, [
    group(sports, 'Sports', 'sports', null),
    group(football, 'Football', 'sports-football', sports),
  ]);
  await insertTags(tx, clientId, [
    tag(breaking, 'Breaking news', 'breaking-news', null),
    tag(tennis, 'Tennis', 'tennis', sports),
    tag(goals, 'Goals', 'football-goals', football),
    tag(results, 'Results', 'football-results', football),
  ]);
}

async function readDemo(sql: Sql, secrets: Secrets, slug: string): Promise<Demo> {
  const client = await findClient(sql, slug);
  if (client === null) throw new Error('The demo client was not made');
  const [app] = await listApps(sql, client.id);
  if (app === undefined) throw new Error('The demo client has no app');
  const tags = await sql<{ id: number; sourceId: string }[]>`
    select id, source_id as "sourceId" from tags
    where client_id = ${client.id} and source_id is not null and deleted_at is null order by id`;
  return {
    clientId: slug,
    appId: app.id,
    platformIds: app.platforms.map(({ platformId }) => platformId),
    tagIds: tags.map(({ id }) => id),
    tagSourceIds: tags.map(({ sourceId }) => sourceId),
    apiUser: await reveal(sql, secrets, client.id, app.id),
    superUser: await reveal(sql, secrets, client.id, null),
  };
}

async function reveal(
  sql: Sql,
  secrets: Secrets,
  clientId: number,
  appId: number | null,
): Promise<ShownCredential> {
  const result = await revealCredential(sql, secrets, { clientId, appId });
  if (result.kind === 'revealed') return result.credential;
  throw new Error(
    'SECRET_KEY: the demo credentials were encrypted with another key; restore that key.',
  );
}

/** The begin of their tokens, by which people know them. */
const NAME = 'tagcast-demo-';
/** A token of APNs, in hexadecimal digits. */
const TOKEN_LENGTH = 64;

/** The token of a simulated device, the same each time. */
export const tokenOf = (platformId: number, number: number): string =>
  platformId === PLATFORMS.apns
    ? Buffer.from(NAME).toString('hex') +
      number.toString(16).padStart(TOKEN_LENGTH - 2 * NAME.length, '0')
    : `${NAME}${number}:APA91b`;

const accountsOf = (apns: ApnsCredential, { serviceAccount }: FcmCredential): ProviderAccounts => ({
  apns: {
    teamId: apns.teamId,
    keyId: apns.keyId,
    privateKey: apns.privateKey,
    bundleId: apns.bundleId,
  },
  fcm: {
    serviceAccount: {
      type: 'service_account',
      project_id: serviceAccount.project_id,
      private_key_id: serviceAccount.private_key_id,
      private_key: serviceAccount.private_key,
      client_email: serviceAccount.client_email,
      token_uri: GOOGLE_TOKEN_URI,
    },
  },
});

const demoPath = (dataDir: string): string => join(dataDir, 'demo.json');

/** Writes DATA_DIR/demo.json (0600), whole or not at all. */
export async function writeDemoFile(
  dataDir: string,
  baseUrl: string,
  demo: Demo,
  { apnsOrigin, fcmOrigin, controlUrl }: Simulator,
  consoleUrl: string | null,
): Promise<void> {
  const simulator = { apnsOrigin, fcmOrigin, controlUrl };
  const content = { baseUrl, ...(consoleUrl === null ? {} : { consoleUrl }), ...demo, simulator };
  const path = demoPath(dataDir);
  const temporary = `${path}.${process.pid}`;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writeFile(temporary, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(temporary, path);
}

const EXAMPLE_DEVICE = 'ab'.repeat(32);

/**
 * Addresses, credentials, and three lines that work when pasted. `simulator` null: it runs
 * elsewhere. `consoleUrl` null: no link signs in to the console.
 */
export function describeDemo(
  baseUrl: string,
  demo: Demo,
  simulator: Simulator | null,
  consoleUrl: string | null,
): string {
  const { appId, apiUser, superUser } = demo;
  const [tagId = 0] = demo.tagIds;
  const registration = { appId, platformId: PLATFORMS.apns, deviceId: EXAMPLE_DEVICE, tagId };
  const push = { tagIds: [tagId], payload: { title: 'goal!', message: '1:0' } };
  const curl = ({ token }: ShownCredential): string =>
    `curl -sS -H 'Authorization: Bearer ${token}'`;
  return `
Tagcast is ready.
  Service             ${baseUrl}${consoleUrl === null ? '' : `\n  Console             ${consoleUrl}   (signs in, once)`}
  Guides              ${baseUrl}/docs/${simulator === null ? '' : `\n  Simulated providers ${simulator.controlUrl}/state`}
  Subscriptions API   Token ${apiUser.token}  LegacyAuth ${apiUser.username}:${apiUser.password}
  Notification+Admin  Token ${superUser.token}  LegacyAuth ${superUser.username}:${superUser.password}

Register a device, push to its tag, see how it ended:
  ${curl(apiUser)} ${baseUrl}/push-api/reg -d '${JSON.stringify(registration)}'; echo
  job=$(${curl(superUser)} ${baseUrl}/push-api/push -d '${JSON.stringify(push)}'); echo "$job"
  sleep 1; ${curl(superUser)} ${baseUrl}/push-api/status/$job; echo
`;
}

/** Shorter, where other machines reach the engine: many read a container's output. */
export const describeDemoFile = (baseUrl: string, host: string, dataDir: string): string => `
Tagcast is ready.
  Service             ${baseUrl}
  Guides              ${baseUrl}/docs/
  Demo                ${demoPath(dataDir)} has its tokens, and a link to the console. They are not printed, because HOST is ${host}.
`;
