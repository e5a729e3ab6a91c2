/**
 * `GET tag/sourceId/<value>/<client>` and `GET tag/id/<value>/<client>`: one tag, expired or not.
 */

import type { Sql } from '../../database/sql.ts';
import type { Caller } from '../../domain/caller.ts';
import type { Tag } from '../../domain/tag.ts';
import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import { json } from '../../http/json-body.ts';
import { outside } from '../../http/outside.ts';
import { pathId } from '../../http/path-id.ts';
import { coversTag } from '../key-limits.ts';
import { readTagGroupSourceId } from '../read-groups.ts';
import { readTagById, readTagBySourceId } from '../read-tags.ts';
import { notFound } from './find-named.ts';

/** Handles `tag/id`. A value that is not an id names no tag. */
export async function getTagById(
  sql: Sql,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse> {
  const id = pathId(request, 'value');
  const tag = id === null ? null : await readTagById(sql, caller.clientId, id);
  return tag === null ? notFound(request) : answer(sql, request, caller, tag);
}

/** Handles `tag/sourceId`. PostgreSQL's text cannot hold NUL, so no tag has such a sourceId. */
export async function getTagBySourceId(
  sql: Sql,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse> {
  const value = request.params['value'] ?? '';
  const tag = value.includes('\0') ? null : await readTagBySourceId(sql, caller.clientId, value);
  return tag === null ? notFound(request) : answer(sql, request, caller, tag);
}

/**
 * The tag in the form of `tag/add`, with its id, and without the properties that it does not have.
 */
async function answer(
  sql: Sql,
  request: HttpRequest,
  caller: Caller,
  tag: Tag,
): Promise<HttpResponse> {
  if (!(await coversTag(sql, caller, tag))) return outside(request);
  const groupSourceId = tag.groupId === null ? null : await readTagGroupSourceId(sql, tag.groupId);
  return json({
    id: tag.id,
    name: tag.name,
    sourceId: tag.sourceId ?? undefined,
    groupSourceId: groupSourceId ?? undefined,
    expiration: tag.expiresAtMs ?? undefined,
    tagOptionalParameters: tag.optionalParameters ?? undefined,
  });
}
