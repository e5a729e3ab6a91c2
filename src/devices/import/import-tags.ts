/** Finds the tags that a file names, and makes missing ones if the operator wants that. */

import { recordChange } from '../../audit/record-change.ts';
import { countTags } from '../../catalogue/count-tags.ts';
import { readTagsBySourceIds } from '../../catalogue/read-tags.ts';
import type { Snapshot } from '../../catalogue/snapshot.ts';
import { insertTags } from '../../catalogue/write-tags.ts';
import { lockClient, raiseCatalogueVersion } from '../../clients/lock-client.ts';
import { nextObjectIds, OBJECT_IDS_USED_UP } from '../../database/object-ids.ts';
import type { SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { AuditOrigin } from '../../domain/audit.ts';
import { overLimit, overLimitSentence } from '../../domain/client-limits.ts';
import type { CatalogueTag, Tag } from '../../domain/tag.ts';
import {
  isConnected,
  isExpired,
  SOURCE_ID_LENGTH_MAX,
  TAG_NAME_LENGTH_MAX,
} from '../../domain/tag.ts';
import { visibleField } from '../../std/visible-text.ts';

interface MeantTag {
  readonly sourceId: string | null;
  readonly id: number | null;
  readonly name: string | null;
}

/** Its id, or why devices cannot subscribe to it. */
export type FoundTag = number | 'unknown' | 'expired' | 'not-connected';

/** Finds each tag, in its place, for one app. */
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
 * Finds a tag by sourceId. An id is only the number of another engine: it counts for a tag without
 * sourceId whose name, if the file has one, is the same here.
 */
function findTag({ tags, tagsBySourceId }: Snapshot, tag: MeantTag): CatalogueTag | undefined {
  if (tag.sourceId !== null) return tagsBySourceId.get(tag.sourceId);
  const byId = tag.id === null ? undefined : tags.get(tag.id);
  if (byId !== undefined && (tag.name === null || tag.name === byId.name)) return byId;
  return tagsBySourceId.get(sourceIdFor(tag));
}

/** The sourceId of a new tag: the same if the file is imported again. */
const sourceIdFor = ({ sourceId, id }: MeantTag): string => sourceId ?? `imported-${id}`;

/** How many tags were made, or a sentence that says why none was. */
type CreatedTags = { readonly count: number } | { readonly fault: string };

export function createTags(
  sql: SqlPool,
  origin: AuditOrigin,
  meant: readonly MeantTag[],
): Promise<CreatedTags> {
  const { clientId } = origin;
  const wanted = new Map(
    meant
      .filter((tag) => sourceIdFor(tag).length <= SOURCE_ID_LENGTH_MAX)
      .map((tag) => [sourceIdFor(tag), tag]),
  );
  return transact(sql, async (tx) => {
    const limits = await lockClient(tx, clientId);
    for (const { sourceId } of await readTagsBySourceIds(tx, clientId, [...wanted.keys()])) {
      if (sourceId !== null) wanted.delete(sourceId);
    }
    if (wanted.size === 0) return { count: 0 };
    const over = overLimit(limits, 'tags', await countTags(tx, clientId), wanted.size);
    if (over !== null) return { fault: overLimitSentence(over) };
    const ids = await nextObjectIds(tx, clientId, wanted.size);
    if (ids === null) return { fault: `This ${OBJECT_IDS_USED_UP}.` };
    const tags = [...wanted].map(([sourceId, tag], index) => {
      const id = ids[index];
      if (id === undefined) throw new Error('fewer ids than new tags');
      return newTag(id, clientId, sourceId, tag);
    });
    await insertTags(tx, clientId, tags);
    await raiseCatalogueVersion(tx, clientId);
    const detail = { tagsCreated: tags.length };
    await recordChange(tx, origin, { action: 'tags.change', id: null, name: null, detail });
    return { count: tags.length };
  });
}

const newTag = (id: number, clientId: number, sourceId: string, { name }: MeantTag): Tag => ({
  id,
  clientId,
  // No device is left out for a name that a terminal would obey.
  name: visibleField(name ?? sourceId).slice(0, TAG_NAME_LENGTH_MAX),
  sourceId,
  groupId: null,
  optionalParameters: null,
  expiresAtMs: null,
  appIds: null,
});
