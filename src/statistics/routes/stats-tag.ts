/** `GET /push-admin-api/v3/<client-id>/stats/tag/<tag-id>`: exact counts of a tag. */

import { coversTag } from '../../catalogue/key-limits.ts';
import { readTagById } from '../../catalogue/read-tags.ts';
import { tagObject } from '../../catalogue/tag-object.ts';
import type { Sql } from '../../database/sql.ts';
import type { Route } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import { outside } from '../../http/outside.ts';
import { pathId } from '../../http/path-id.ts';
import { problem } from '../../http/problem.ts';
import type { StatsParts } from './stats-answer.ts';
import { answerStats } from './stats-answer.ts';

export const statsTagRoute = ({
  sql,
  patientReads,
}: StatsParts & { readonly sql: Sql }): Route => ({
  operation: 'getTagStatistics',
  method: 'GET',
  path: '/push-admin-api/v3/:client/stats/tag/:tag',
  api: 'admin',
  needs: 'read',
  bodyBytesMax: BODY_BYTES_MAX,
  async handle(request, caller) {
    const tagId = pathId(request, 'tag');
    const tag = tagId === null ? null : await readTagById(sql, caller.clientId, tagId);
    if (tag === null) return problem(request.requestId, 404, 'There is no such tag.');
    // The counts are of all apps.
    if (caller.key?.appIds || !(await coversTag(sql, caller, tag))) return outside(request);
    const shown = {
      tag: {
        ...tagObject(tag),
        ...(tag.expiresAtMs === null ? {} : { expiration: tag.expiresAtMs }),
      },
    };
    const subject = { kind: 'tag', id: tag.id, clientId: caller.clientId } as const;
    return answerStats(patientReads, request, subject, shown);
  },
});
