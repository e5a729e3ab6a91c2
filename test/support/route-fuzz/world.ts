/** A client with a little of everything, for requests to name. Rebuilt when it is used up. */

import { PLATFORMS } from '../../../packages/std/src/platforms.ts';
import { makeLink } from '../../../src/access/accounts/links.ts';
import type { SqlPool } from '../../../src/database/sql.ts';
import type { NewBulkOperation } from '../../../src/devices/sql/insert-operation.ts';
import { insertBulkOperation } from '../../../src/devices/sql/insert-operation.ts';
import { createKey } from '../../../src/keys/keys.ts';
import {
  readProviderCredential,
  writeProviderCredential,
} from '../../../src/provider-credentials/provider-credentials.ts';
import type { ApnsCredential } from '../../../src/providers/apns/credential.ts';
import type { ProviderCredential } from '../../../src/providers/providers.ts';
import { insertDraft } from '../../../src/push/sql/drafts.ts';
import { insertSegment } from '../../../src/push/sql/segments.ts';
import { insertTestDevice } from '../../../src/push/sql/test-devices.ts';
import { writeTemplate } from '../../../src/templates/templates.ts';
import { addAccount, beginSession, PASSWORD } from '../accounts.ts';
import { addTenant, secrets } from '../api.ts';
import { declareAttribute } from '../attributes.ts';
import { post } from '../client.ts';
import type { Service } from '../service.ts';
import { makeWebhook } from '../webhooks.ts';

export interface World {
  readonly slug: string;
  readonly appId: number;
  readonly tagId: number;
  readonly groupId: number;
  readonly keyId: number;
  /** It is turned off, and has a dead delivery. */
  readonly webhookId: number;
  readonly testDeviceId: number;
  readonly draftId: number;
  /** Not due for a long time. */
  readonly jobId: string;
  /** A bulk operation. */
  readonly operationId: number;
  readonly deviceId: string;
  readonly apiToken: string;
  readonly superToken: string;
  readonly keyToken: string;
  /** The credential in the form of its owner's request. */
  readonly apns: Omit<ApnsCredential, 'kind'>;
  /** `user:password` of the super user. */
  readonly login: string;
  /** A signed-in owner, who is an operator, too. */
  readonly account: {
    readonly email: string;
    readonly headers: Readonly<Record<string, string>>;
    /** Another member. */
    readonly memberId: number;
    readonly resetToken: string;
  };
  /** Passwords of this client: for its own eyes only. */
  readonly passwords: readonly string[];
}

export const SOURCE_ID = 'goals';
export const DOOMED_SOURCE_ID = 'doomed';
/** An attribute of the client. */
export const ATTRIBUTE = 'plan';

/** Read once: the operator may delete the credential of any app, and so that of the demo. */
const demoCredentials = new WeakMap<Service, Map<number, ProviderCredential>>();

async function demoCredential(service: Service, platformId: number): Promise<ProviderCredential> {
  const read = demoCredentials.get(service) ?? new Map<number, ProviderCredential>();
  demoCredentials.set(service, read);
  const known = read.get(platformId);
  if (known !== undefined) return known;
  const { store, demo } = service;
  const opened = await readProviderCredential(store.sql, secrets, demo.appId, platformId);
  if (opened.kind !== 'opened') throw new Error(opened.kind);
  read.set(platformId, opened.credential);
  return opened.credential;
}

export async function makeWorld(service: Service, slug: string): Promise<World> {
  const { engine, store } = service;
  const { sql } = store;
  const { clientId, appId, superUser, apiUser } = await addTenant(sql, slug);
  const put = async (platformId: number): Promise<ProviderCredential> => {
    const credential = await demoCredential(service, platformId);
    await writeProviderCredential(sql, secrets, appId, platformId, credential);
    return credential;
  };
  const { kind: _, ...apns } = (await put(PLATFORMS.apns)) as ApnsCredential;
  await put(PLATFORMS.fcm);
  await writeTemplate(sql, { appId, platformId: PLATFORMS.apns }, '$');
  const ask = async (path: string, token: string, body: unknown): Promise<string> => {
    const answer = await post(engine.url + path, token, body);
    if (!answer.ok) throw new Error(`${path} was answered ${await answer.text()}`);
    return await answer.text();
  };
  const added = await ask(`/push-admin-api/tag/add/${slug}`, superUser.token, {
    groups: [{ name: 'Clubs', sourceId: 'clubs' }],
    tags: [
      { name: 'Goals', sourceId: SOURCE_ID },
      { name: 'Doomed', sourceId: DOOMED_SOURCE_ID },
      { name: 'Left by all' },
    ],
  });
  const { groups, tags } = JSON.parse(added) as Readonly<
    Record<'groups' | 'tags', readonly [Made, Made, Made]>
  >;
  const tagId = tags[0].id;
  await declareAttribute(sql, clientId, { name: ATTRIBUTE, type: 'text' });
  const deviceId = 'ab'.repeat(32);
  await ask('/push-api/reg', apiUser.token, { appId, platformId: 3, deviceId, tagId });
  const jobId = await ask('/push-api/push', superUser.token, {
    tagIds: [tagId],
    payload: { title: 'goal!' },
    sendAt: '2100-01-01T00:00:00Z',
  });
  // A tag of its own: none is deleted before its operations have ended.
  const operation: NewBulkOperation = {
    clientId,
    userName: superUser.username,
    action: 'remove',
    subscribe: [],
    unsubscribe: [tags[2].id],
    memberOf: tags[2].id,
    listed: null,
    appIds: null,
    total: 0,
  };
  // Never due, from its commit on: otherwise it may have ended before it is cancelled.
  const operationId = await sql.begin(async (tx) => {
    const id = await insertBulkOperation(tx, operation);
    await tx`update bulk_operations set due_at = 'infinity' where id = ${id}`;
    return id;
  });
  const key = await createKey(sql, secrets, {
    clientId,
    clientSlug: slug,
    name: 'CMS',
    scopes: ['send', 'read', 'admin'],
    tagIds: [tagId],
    groupIds: null,
    appIds: null,
    maxDevices: null,
    expiresAtMs: null,
  });
  if ('over' in key) throw new Error('too many keys');
  await insertSegment(sql, clientId, { name: 'fans', expression: SOURCE_ID, description: null });
  return {
    slug,
    appId,
    tagId,
    groupId: groups[0].id,
    keyId: key.id,
    webhookId: await makeDeadWebhook(sql, clientId),
    testDeviceId: await makeTestDevice(sql, clientId, appId),
    draftId: (await insertDraft(sql, clientId, DRAFT)).id,
    jobId,
    operationId,
    deviceId,
    apiToken: apiUser.token,
    superToken: superUser.token,
    keyToken: key.token,
    apns,
    account: await makeAccount(sql, slug, clientId),
    login: `${superUser.username}:${superUser.password}`,
    passwords: [superUser.password, apiUser.password],
  };
}

async function makeDeadWebhook(sql: SqlPool, clientId: number): Promise<number> {
  const { id } = await makeWebhook(sql, clientId, 'https://cms.example/hook');
  await sql`update webhooks set is_enabled = false where id = ${id}`;
  await sql`
    insert into webhook_deliveries (id, webhook_id, events, event_count, state)
    values (gen_random_uuid(), ${id}, '[]', 0, 'dead')`;
  return id;
}

const DRAFT = { name: 'Draft', content: {}, userName: 'somebody' };

async function makeTestDevice(sql: SqlPool, clientId: number, appId: number): Promise<number> {
  const device = { appId, platformId: 3, deviceId: 'cd'.repeat(32), name: 'Phone' };
  const saved = await insertTestDevice(sql, clientId, device);
  if (saved === null) throw new Error('it is saved already');
  return saved.id;
}

interface Made {
  readonly id: number;
}

async function makeAccount(
  sql: SqlPool,
  slug: string,
  clientId: number,
): Promise<World['account']> {
  const email = `owner@${slug}.example`;
  const accountId = await addAccount(sql, {
    email,
    password: PASSWORD,
    isOperator: true,
    roles: [[clientId, 'owner']],
  });
  const memberId = await addAccount(sql, {
    email: `member@${slug}.example`,
    roles: [[clientId, 'viewer']],
  });
  const { headers } = await beginSession(sql, accountId);
  const link = await makeLink(sql, secrets, { kind: 'reset', accountId, clientId: null });
  return {
    email,
    headers: {
      ...Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
      ),
      'tagcast-client': slug,
    },
    memberId,
    resetToken: link.path.split('/').at(-1) ?? '',
  };
}
