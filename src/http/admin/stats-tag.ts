/** `GET /push-admin-api/v3/<client-id>/stats/tag/<tag-id>`: exact counts of a tag. */

import type { Sql } from '../../store/sql.ts';
import { readTagById } from '../../store/tags/read-tags.ts';
import { tagObject } from '../app-api/tag-object.ts';
import type { Route } from '../handler.ts';
import { BODY_BYTES_MAX } from '../handler.ts';
import { coversTag, outside } from '../key-limits.ts';
import { problem } from '../problem.ts';
import { pathId } from './path-id.ts';
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
