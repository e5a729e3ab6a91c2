/** Makes apps, each with the credential of its API user, and deletes them. */

import type { ShownCredential } from '../access/credentials.ts';
import { createCredential } from '../access/credentials.ts';
import type { Secrets } from '../access/secrets.ts';
import { lockClient, raiseCatalogueVersion } from '../clients/lock-client.ts';
import { nextObjectIds, OBJECT_IDS_USED_UP } from '../database/object-ids.ts';
import type { Sql } from '../database/sql.ts';
import type { OverLimit } from '../domain/client-limits.ts';
import { overLimit } from '../domain/client-limits.ts';
import type { Recorder } from './outcome.ts';
import { deleteApp } from './sql/delete-app.ts';
import { insertApp } from './sql/insert-app.ts';
import { countApps, readApp } from './sql/read-apps.ts';

interface AppToMake {
  readonly clientId: number;
  readonly clientSlug: string;
  readonly name: string;
  readonly platformIds: readonly number[];
}

type MadeApp =
  | { readonly ok: true; readonly id: number; readonly credential: ShownCredential }
  | { readonly ok: false; readonly refusal: AppRefusal };

export type AppRefusal =
  | { readonly kind: 'over-limit'; readonly over: OverLimit }
  /** No id is left for one app more. */
  | { readonly kind: 'ids-used-up'; readonly why: string };

/** In the transaction of its caller. */
export async function makeApp(
  tx: Sql,
  secrets: Secrets,
  app: AppToMake,
  record: Recorder,
): Promise<MadeApp> {
  const { clientId, clientSlug, name } = app;
  const limits = await lockClient(tx, clientId);
  const over = overLimit(limits, 'apps', await countApps(tx, clientId));
  if (over !== null) return { ok: false, refusal: { kind: 'over-limit', over } };
  const [id] = (await nextObjectIds(tx, clientId, 1)) ?? [];
  if (id === undefined) {
    return { ok: false, refusal: { kind: 'ids-used-up', why: OBJECT_IDS_USED_UP } };
  }
  await insertApp(tx, { ...app, id });
  await raiseCatalogueVersion(tx, clientId);
  const credential = await createCredential(tx, secrets, { clientId, clientSlug, appId: id });
  await record({ action: 'app.create', id, name });
  return { ok: true, id, credential };
}

/** Deletes an app; answers its name, null: there is none. Under the client's lock. */
export async function dropApp(tx: Sql, clientId: number, id: number): Promise<string | null> {
  const app = await readApp(tx, clientId, id);
  if (app === null) return null;
  await deleteApp(tx, clientId, app);
  return app.name;
}
