/** Which tags the caller of a route may read: a key may be for some tags or apps only. */

import type { Sql } from '../database/sql.ts';
import type { Caller } from '../domain/caller.ts';
import { limitsTags } from '../domain/caller.ts';
import type { Tag } from '../domain/tag.ts';
import { findCoveredTags } from './covered-tags.ts';

/** A caller may read a tag that is for one of its apps, and is one of its tags. */
export const coversTag = async (
  sql: Sql,
  caller: Caller,
  tag: Pick<Tag, 'id' | 'appIds'>,
): Promise<boolean> => (await coveredTags(sql, caller, [tag])).length > 0;

/** Returns the tags that the caller may read. */
export async function coveredTags<T extends Pick<Tag, 'id' | 'appIds'>>(
  sql: Sql,
  { clientId, key }: Caller,
  tags: readonly T[],
): Promise<readonly T[]> {
  if (key === undefined) return tags;
  const ofApps = tags.filter(
    ({ appIds }) => key.appIds?.some((appId) => appIds?.includes(appId) ?? true) ?? true,
  );
  if (!limitsTags(key) || ofApps.length === 0) return ofApps;
  const named = { ids: ofApps.map(({ id }) => id), sourceIds: [] };
  const covered = await findCoveredTags(sql, clientId, key, named);
  const ids = new Set(covered.map(({ id }) => id));
  return ofApps.filter(({ id }) => ids.has(id));
}
