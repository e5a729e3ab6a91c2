/**
 * What some pushes name, and where their clients can send: asked of the database for all of them at
 * once.
 */

import type { Scope } from '../../domain/notification.ts';
import { ID_MAX } from '../../domain/tag.ts';
import type { ReferencedTag } from '../../store/notifications/find-referenced-tags.ts';
import { findReferencedTags } from '../../store/notifications/find-referenced-tags.ts';
import { listScopes } from '../../store/notifications/list-scopes.ts';
import type { Sql } from '../../store/sql.ts';
import type { Push, TagReferences } from './push.ts';

/** A push and whose it is. */
export interface ClientPush {
  readonly push: Push;
  readonly clientId: number;
}

export interface Known {
  /** Of the client, that the push names. */
  readonly tags: readonly ReferencedTag[];
  /** Every (app, platform) of the client. */
  readonly scopes: readonly Scope[];
}

/** For each of them, in order. */
export async function lookUp(sql: Sql, pushes: readonly ClientPush[]): Promise<readonly Known[]> {
  const namings = pushes.map(({ push, clientId }) => ({ clientId, ...namesOf(push) }));
  const clientIds = [...new Set(pushes.map(({ clientId }) => clientId))];
  const [found, scopes] = await Promise.all([
    findReferencedTags(sql, namings),
    listScopes(sql, clientIds),
  ]);
  const byId = new Map(found.map((tag) => [tag.id, tag]));
  const bySourceId = new Map(found.map((tag) => [`${tag.clientId} ${tag.sourceId}`, tag]));
  return namings.map(({ clientId, ids, sourceIds }) => {
    const named = [
      ...ids.map((id) => byId.get(id)),
      ...sourceIds.map((sourceId) => bySourceId.get(`${clientId} ${sourceId}`)),
    ];
    const tags = named.flatMap((tag) => (tag?.clientId === clientId ? [tag] : []));
    return { tags: [...new Set(tags)], scopes: scopes.filter((one) => one.clientId === clientId) };
  });
}

/** How many tags it names: what it adds to the question. */
export const namesIn = (push: Push): number => {
  const { ids, sourceIds } = namesOf(push);
  return ids.length + sourceIds.length;
};

function namesOf({ target, filter, exclude }: Push): TagReferences {
  const named = [target, filter, exclude];
  return {
    // Beyond the range of ids there is no tag, and no integer of the database either.
    ids: named.flatMap(({ ids }) => ids).filter((id) => id > 0 && id <= ID_MAX),
    sourceIds: named.flatMap(({ sourceIds }) => sourceIds),
  };
}
