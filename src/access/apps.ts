/** Makes apps, each with the credential of its API user. */

import { insertApp } from '../store/apps/insert-app.ts';
import { countApps } from '../store/apps/read-apps.ts';
import { lockClient, raiseCatalogueVersion } from '../store/clients/lock-client.ts';
import { nextObjectIds, OBJECT_IDS_USED_UP } from '../store/object-ids.ts';
import type { Sql } from '../store/sql.ts';
import type { ShownCredential } from './credentials.ts';
import { createCredential } from './credentials.ts';
import type { Secrets } from './secrets.ts';

/** Each is a row for each of its platforms in every push job of the client. */
export const APPS_PER_CLIENT_MAX = 1_000;

/** The message to a caller that wants more. */
const TOO_MANY_APPS = `would be more than ${APPS_PER_CLIENT_MAX} apps, as many as a client may have; delete some`;

export interface AppToMake {
  readonly clientId: number;
  readonly clientSlug: string;
  readonly name: string;
  readonly platformIds: readonly number[];
}

export type MadeApp =
  | { readonly ok: true; readonly id: number; readonly credential: ShownCredential }
  /** What is wrong with one app more. */
  | { readonly ok: false; readonly why: string };

/** In the transaction of its caller. */
export async function makeApp(tx: Sql, secrets: Secrets, app: AppToMake): Promise<MadeApp> {
  const { clientId, clientSlug } = app;
  await lockClient(tx, clientId);
  if ((await countApps(tx, clientId)) >= APPS_PER_CLIENT_MAX) {
    return { ok: false, why: TOO_MANY_APPS };
  }
  const [id] = (await nextObjectIds(tx, clientId, 1)) ?? [];
  if (id === undefined) return { ok: false, why: OBJECT_IDS_USED_UP };
  await insertApp(tx, { ...app, id });
  await raiseCatalogueVersion(tx, clientId);
  const credential = await createCredential(tx, secrets, { clientId, clientSlug, appId: id });
  return { ok: true, id, credential };
}
