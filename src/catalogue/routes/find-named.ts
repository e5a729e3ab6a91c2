/**
 * Finds the one tag or tag group that a request names: by id, or, if it gives no id, by sourceId.
 */

import type { Sql } from '../../database/sql.ts';
import type { Tag, TagGroup } from '../../domain/tag.ts';
import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import { problem } from '../../http/problem.ts';
import { readTagById, readTagBySourceId } from '../read-tags.ts';
import type { TagGroupTree } from './tag-group-tree.ts';

interface Named {
  readonly id?: number | undefined;
  readonly sourceId?: string | null | undefined;
}

export function findNamedTag(tx: Sql, clientId: number, named: Named): Promise<Tag | null> {
  if (named.id !== undefined) return readTagById(tx, clientId, named.id);
  return named.sourceId ? readTagBySourceId(tx, clientId, named.sourceId) : Promise.resolve(null);
}

export function findNamedTagGroup(tree: TagGroupTree, named: Named): TagGroup | null {
  if (named.id !== undefined) return tree.byId(named.id) ?? null;
  return named.sourceId ? (tree.bySourceId(named.sourceId) ?? null) : null;
}

/** 404: unknown, deleted, or another client's. */
export const notFound = (request: HttpRequest): HttpResponse =>
  problem(request.requestId, 404, 'This client has no tag or group with this id or sourceId.');
