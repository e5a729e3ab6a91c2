/**
 * Finds the client's tags that a file means, and makes those that are not there when the operator
 * wants them.
 */

import type { CatalogueTag, Tag } from '../../domain/tag.ts';
import {
  isConnected,
  isExpired,
  SOURCE_ID_LENGTH_MAX,
  TAG_NAME_LENGTH_MAX,
  TAGS_PER_CLIENT_MAX,
} from '../../domain/tag.ts';
import { lockClient, raiseCatalogueVersion } from '../../store/clients/lock-client.ts';
import { nextObjectIds } from '../../store/object-ids.ts';
import type { SqlPool } from '../../store/sql.ts';
import { countTags } from '../../store/tags/count-tags.ts';
import { readTagsBySourceIds } from '../../store/tags/read-tags.ts';
import { insertTags } from '../../store/tags/write-tags.ts';
import { transact } from '../../store/transact.ts';
import type { Snapshot } from '../catalogue/snapshot.ts';

/** A tag as a file names it. */
export interface MeantTag {
  readonly sourceId: string | null;
  readonly id: number | null;
  readonly name: string | null;
}

/** Its id, or a word for why devices cannot be subscribed to it. */
export type FoundTag = number | 'unknown' | 'expired' | 'not-connected';

/** Finds each in its place, for one app. */
export function findTags(
  snapshot: Snapshot,
  appId: number,
  meant: readonly MeantTag[],
  nowMs: number,
): readonly FoundTag[] {
  return meant.map((tag) => {
    const found = findTag(snapshot, tag);
    if (found === undefined) return 'unknown';
    if (!isConnected(found, appId)) return 'not-connected';
    return isExpired(found, nowMs) ? 'expired' : found.id;
  });
}

/**
 * By sourceId. An id is only another engine's number: it counts for a tag without sourceId whose
 * name, if the file has one, is the same here.
 */
function findTag({ tags, tagsBySourceId }: Snapshot, tag: MeantTag): CatalogueTag | undefined {
  if (tag.sourceId !== null) return tagsBySourceId.get(tag.sourceId);
  const byId = tag.id === null ? undefined : tags.get(tag.id);
  if (byId !== undefined && (tag.name === null || tag.name === byId.name)) return byId;
  return tagsBySourceId.get(sourceIdFor(tag));
}

/** What a tag is made under: the same when the file is imported again. */
const sourceIdFor = ({ sourceId, id }: MeantTag): string => sourceId ?? `imported-${id}`;

/**
 * Makes those of the tags that no tag has the sourceId of; answers how many, or null: the client
 * would have too many.
 */
export function createTags(
  sql: SqlPool,
  clientId: number,
  meant: readonly MeantTag[],
): Promise<number | null> {
  const wanted = new Map(
    meant
      .filter((tag) => sourceIdFor(tag).length <= SOURCE_ID_LENGTH_MAX)
      .map((tag) => [sourceIdFor(tag), tag]),
  );
  return transact(sql, async (tx) => {
    await lockClient(tx, clientId);
    for (const { sourceId } of await readTagsBySourceIds(tx, clientId, [...wanted.keys()])) {
      if (sourceId !== null) wanted.delete(sourceId);
    }
    if (wanted.size === 0) return 0;
    if ((await countTags(tx, clientId)) + wanted.size > TAGS_PER_CLIENT_MAX) return null;
    const ids = await nextObjectIds(tx, clientId, wanted.size);
    if (ids === null) return null;
    const tags = [...wanted].map(([sourceId, tag], index) => {
      const id = ids[index];
      if (id === undefined) throw new Error('fewer ids than new tags');
      return newTag(id, clientId, sourceId, tag);
    });
    await insertTags(tx, clientId, tags);
    await raiseCatalogueVersion(tx, clientId);
    return tags.length;
  });
}

const newTag = (id: number, clientId: number, sourceId: string, { name }: MeantTag): Tag => ({
  id,
  clientId,
  name: (name ?? sourceId).slice(0, TAG_NAME_LENGTH_MAX),
  sourceId,
  groupId: null,
  optionalParameters: null,
  expiresAtMs: null,
  appIds: null,
});
