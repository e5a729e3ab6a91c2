/** Finds the one tag or group that a request names: by id, or without one by sourceId. */

import type { Sql } from '../database/sql.ts';
import type { Tag, TagGroup } from '../domain/tag.ts';
import { readTagById, readTagBySourceId } from './read-tags.ts';
import type { TagGroupTree } from './tag-group-tree.ts';

export interface NamedTag {
  readonly id?: number | undefined;
  readonly sourceId?: string | null | undefined;
}

export function findNamedTag(tx: Sql, clientId: number, named: NamedTag): Promise<Tag | null> {
  if (named.id !== undefined) return readTagById(tx, clientId, named.id);
  return named.sourceId ? readTagBySourceId(tx, clientId, named.sourceId) : Promise.resolve(null);
}

export function findNamedTagGroup(tree: TagGroupTree, named: NamedTag): TagGroup | null {
  if (named.id !== undefined) return tree.byId(named.id) ?? null;
  return named.sourceId ? (tree.bySourceId(named.sourceId) ?? null) : null;
}
