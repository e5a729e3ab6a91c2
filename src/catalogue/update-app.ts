/** Changes an app on one of its platforms, and connects tags to it. */

import { raiseCatalogueVersion } from '../clients/lock-client.ts';
import type { Sql } from '../database/sql.ts';
import { changedFields } from '../domain/audit.ts';
import type { Caller } from '../domain/caller.ts';
import { coversApp, isForTags } from '../domain/caller.ts';
import { connectTags, tagsToConnect } from './connect-tags.ts';
import type { NamedTag } from './find-named.ts';
import type { Outcome, Recorder } from './outcome.ts';
import { done, refused } from './outcome.ts';
import { renameApp, writeParameters } from './sql/change-app.ts';
import type { AppPlatform } from './sql/list-app-platforms.ts';
import { listAppPlatforms } from './sql/list-app-platforms.ts';
import type { App } from './sql/read-apps.ts';
import { readApp } from './sql/read-apps.ts';

/** Absent fields stay as they are. */
interface AppUpdate {
  readonly id: number;
  readonly name?: string | undefined;
  /** Absent: the only one that the app is on. */
  readonly platformId?: number | undefined;
  readonly parameters?: object | null | undefined;
  readonly tags: readonly NamedTag[];
}

/** Null: the client has no such app. The caller of it holds the client's lock. */
export async function updateApp(
  tx: Sql,
  caller: Caller,
  record: Recorder,
  update: AppUpdate,
): Promise<Outcome<AppPlatform | null>> {
  const app = await readApp(tx, caller.clientId, update.id);
  if (app === null) return done(null);
  if (!coversApp(caller, app.id) || isForTags(caller)) {
    return refused({ kind: 'outside', path: 'id' });
  }
  return await change(tx, caller, record, app, update);
}

async function change(
  tx: Sql,
  caller: Caller,
  record: Recorder,
  app: App,
  { name = app.name, platformId, parameters, tags }: AppUpdate,
): Promise<Outcome<AppPlatform>> {
  const { clientId } = caller;
  const { id, platformIds } = app;
  const on = platformId ?? (platformIds.length === 1 ? platformIds[0] : undefined);
  if (on === undefined || !platformIds.includes(on)) {
    const message = `must be one that the app is on: ${platformIds.join(', ')}`;
    return refused({ kind: 'invalid', faults: [{ path: 'platformId', message }] });
  }
  const connected = await tagsToConnect(tx, caller, id, tags);
  if (!connected.ok) return connected;
  const readRow = async (): Promise<AppPlatform> => {
    const behind = { afterId: id, afterPlatformId: on - 1 };
    const [row] = await listAppPlatforms(tx, { clientId, appIds: [id], ...behind, limit: 1 });
    if (row === undefined) throw new Error(`app ${id} is locked, and not there`);
    return row;
  };
  const before = await readRow();
  await connectTags(tx, clientId, id, connected.value);
  if (parameters !== undefined) {
    await writeParameters(tx, { appId: id, platformId: on }, parameters);
  }
  if (name !== app.name) {
    await renameApp(tx, id, name);
    await raiseCatalogueVersion(tx, clientId);
  }
  const after = await readRow();
  const areTagsChanged = connected.value.some(({ appIds }) => appIds !== null);
  const fields = [...changedFields(before, after), ...(areTagsChanged ? ['tags'] : [])];
  if (fields.length > 0) await record({ action: 'app.change', id, name, detail: { fields } });
  return done(after);
}
