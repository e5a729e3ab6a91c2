/**
 * The routes of tags on the Admin API, as the public service has them
 * (internals/existing-clients.md, "Admin API").
 */

import type { SqlPool } from '../../database/sql.ts';
import type { ApiRoute, ClientRoute } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import { json } from '../../http/json-body.ts';
import { addTags } from './tag-add.ts';
import { removeTag } from './tag-delete.ts';
import { getTagById, getTagBySourceId } from './tag-get.ts';
import { updateTag } from './tag-update.ts';

/** `tag/…`, and `endpoints/get`, with which clients test their credential. */
export function tagRoutes(sql: SqlPool): readonly ApiRoute[] {
  return [
    post('addTags', 'tag/add/:client', (request, caller) => addTags(sql, request, caller)),
    post('updateTag', 'tag/update/:client', (request, caller) => updateTag(sql, request, caller)),
    post('removeTag', 'tag/delete/:client', (request, caller) => removeTag(sql, request, caller)),
    get('findTagBySourceId', 'tag/sourceId/:value/:client', (request, caller) =>
      getTagBySourceId(sql, request, caller),
    ),
    get('findTagById', 'tag/id/:value/:client', (request, caller) =>
      getTagById(sql, request, caller),
    ),
    get('checkCredential', 'endpoints/get', () => json({ ok: true }), 'any-scope'),
  ];
}

const post = (operation: string, path: string, handle: ApiRoute['handle']): ApiRoute => ({
  operation,
  api: 'admin',
  needs: 'admin',
  method: 'POST',
  path: `/push-admin-api/${path}`,
  bodyBytesMax: BODY_BYTES_MAX,
  handle,
});

const get = (
  operation: string,
  path: string,
  handle: ApiRoute['handle'],
  needs: ClientRoute['needs'] = 'read',
): ApiRoute => ({
  operation,
  api: 'admin',
  needs,
  method: 'GET',
  path: `/push-admin-api/${path}`,
  bodyBytesMax: BODY_BYTES_MAX,
  handle,
});
