/** Connects tags to an app, and disconnects none: existing clients send one of many. */

import { raiseCatalogueVersion } from '../clients/lock-client.ts';
import type { Sql } from '../database/sql.ts';
import type { Caller } from '../domain/caller.ts';
import type { Tag } from '../domain/tag.ts';
import { isConnected } from '../domain/tag.ts';
import type { FormFault } from '../std/strict-form.ts';
import type { NamedTag } from './find-named.ts';
import { findNamedTag } from './find-named.ts';
import type { Outcome } from './outcome.ts';
import { done, refused } from './outcome.ts';
import { checkReconnection } from './reconnect.ts';
import { readTerritory } from './territory.ts';
import { updateTags } from './write-tags.ts';

/**
 * The tags that are named, if the caller may change those that are not connected yet. `appId` null:
 * an app that is still to be made. The caller of it holds the client's lock.
 */
export async function tagsToConnect(
  tx: Sql,
  caller: Caller,
  appId: number | null,
  named: readonly NamedTag[],
): Promise<Outcome<readonly Tag[]>> {
  const territory = await readTerritory(tx, caller);
  const tags = new Map<number, Tag>();
  const faults: FormFault[] = [];
  for (const [index, name] of named.entries()) {
    const path = `tags.${index}`;
    const tag = await findNamedTag(tx, caller.clientId, name);
    if (tag === null) faults.push({ path, message: 'names no tag' });
    else if (appId === null || !isConnected(tag, appId)) {
      if (!territory.holdsTag(tag)) return refused({ kind: 'outside', path });
      tags.set(tag.id, tag);
    }
  }
  if (faults.length > 0) return refused({ kind: 'invalid', faults });
  const connected = [...tags.values()];
  const again = connected.flatMap(({ id, appIds }) => (appIds === null ? [] : id));
  if (appId === null || again.length === 0) return done(connected);
  const reconnection = await checkReconnection(tx, caller.clientId, again, [appId]);
  return reconnection.ok ? done(connected) : reconnection;
}

/** A tag of every app of the client is connected as it is. */
export async function connectTags(
  tx: Sql,
  clientId: number,
  appId: number,
  tags: readonly Tag[],
): Promise<void> {
  const changed = tags.flatMap((tag) =>
    tag.appIds === null
      ? []
      : { ...tag, appIds: [...tag.appIds, appId].sort((one, other) => one - other) },
  );
  if (changed.length === 0) return;
  await updateTags(tx, clientId, changed);
  await raiseCatalogueVersion(tx, clientId);
}
