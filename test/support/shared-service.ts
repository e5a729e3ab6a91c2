/**
 * A whole service on each kind of store, which all test files of a process share: a test makes a
 * client of its own on it. A test that kills a service or configures it starts one of its own:
 * `startService`, or `startEngine` for a process.
 */

import type { Test } from 'tap';
import { openEmbedded, openPostgres } from '../../src/database/store.ts';
import {
  readProviderCredential,
  writeProviderCredential,
} from '../../src/provider-credentials/provider-credentials.ts';
import { addTenant, secrets } from './api.ts';
import { post } from './client.ts';
import { databaseTemplate } from './environment.ts';
import { OPERATOR_TOKEN } from './route-fuzz/valid.ts';
import { storesWanted } from './runner/stores-wanted.ts';
import type { Service } from './service.ts';
import { startSharedService } from './service.ts';
import { shared } from './shared.ts';
import { createDatabase, onPostgres, seedEmbedded } from './store.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** A caller may say by `X-Forwarded-For` which address it comes from. */
const SETTINGS = { TRUSTED_PROXIES: '127.0.0.1', OPERATOR_TOKEN };

/** The service on an embedded store. */
export const sharedService = shared(async (lifetime) => {
  const dataDir = temporaryDirectory(lifetime);
  seedEmbedded(dataDir);
  const store = await openEmbedded(dataDir, { fsync: false });
  lifetime.teardown(() => store.close());
  return startSharedService(lifetime, store, SETTINGS);
});

const sharedServiceOnPostgres = shared(async (lifetime) => {
  const store = await openPostgres(await createDatabase(lifetime, databaseTemplate));
  lifetime.teardown(() => store.close());
  return startSharedService(lifetime, store, SETTINGS);
});

/**
 * Runs `body` as two subtests, 'embedded' and 'postgres', each with a client of its own on the
 * shared service.
 */
export async function withSharedServices(
  t: Test,
  body: (t: Test, service: Service) => Promise<void>,
): Promise<void> {
  if (storesWanted() !== 'postgres') {
    await t.test('embedded', async (t) => body(t, await makeClient(await sharedService())));
  }
  await onPostgres(t, async (t) => body(t, await makeClient(await sharedServiceOnPostgres())));
}

let clients = 0;

/** A slug that no other client of this process has. */
export function nextSlug(): string {
  clients += 1;
  return `client-${clients}`;
}

/**
 * The service as one client sees it that has what the demo client has: an app whose credentials the
 * simulator accepts, and its tags and groups.
 */
export async function makeClient(service: Service): Promise<Service> {
  const { engine, store, demo } = service;
  const { slug, appId, apiUser, superUser } = await addTenant(store.sql, nextSlug());
  for (const platformId of demo.platformIds) {
    const opened = await readProviderCredential(store.sql, secrets, demo.appId, platformId);
    if (opened.kind !== 'opened') throw new Error(opened.kind);
    await writeProviderCredential(store.sql, secrets, appId, platformId, opened.credential);
  }
  const added = await post(`${engine.url}/push-admin-api/tag/add/${slug}`, superUser.token, {
    groups: [
      { name: 'Sports', sourceId: 'sports' },
      { name: 'Football', sourceId: 'sports-football', parentGroupSourceId: 'sports' },
    ],
    tags: [
      { name: 'Breaking news', sourceId: 'breaking-news' },
      { name: 'Tennis', sourceId: 'tennis', groupSourceId: 'sports' },
      { name: 'Goals', sourceId: 'football-goals', groupSourceId: 'sports-football' },
      { name: 'Results', sourceId: 'football-results', groupSourceId: 'sports-football' },
    ],
  });
  if (!added.ok) throw new Error(await added.text());
  const { tags } = (await added.json()) as {
    readonly tags: readonly { readonly id: number; readonly sourceId: string }[];
  };
  const own = {
    clientId: slug,
    appId,
    apiUser,
    superUser,
    tagIds: tags.map(({ id }) => id),
    tagSourceIds: tags.map(({ sourceId }) => sourceId),
  };
  return { engine, store, demo: { ...demo, ...own } };
}
