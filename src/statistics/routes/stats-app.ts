/** `GET /push-admin-api/v3/<client-id>/stats/app/<app-id>`: exact counts of an app. */

import { findAppName } from '../../clients/find-app.ts';
import type { Sql } from '../../database/sql.ts';
import { limitsTags } from '../../domain/caller.ts';
import type { Route } from '../../http/handler.ts';
import { outside } from '../../http/outside.ts';
import { pathId } from '../../http/path-id.ts';
import { problem } from '../../http/problem.ts';
import type { StatsParts } from './stats-answer.ts';
import { answerStats } from './stats-answer.ts';

export const statsAppRoute = ({
  sql,
  patientReads,
}: StatsParts & { readonly sql: Sql }): Route => ({
  operation: 'getAppStatistics',
  method: 'GET',
  path: '/push-admin-api/v3/:client/stats/app/:app',
  api: 'admin',
  needs: 'read',
  bodyBytesMax: 0,
  async handle(request, caller) {
    const { clientId, key } = caller;
    const id = pathId(request, 'app');
    const name = id === null ? null : await findAppName(sql, clientId, id);
    if (id === null || name === null) {
      return problem(request.requestId, 404, 'There is no such app.');
    }
    // The counts are of all tags.
    const isOutside = key !== undefined && (limitsTags(key) || key.appIds?.includes(id) === false);
    if (isOutside) return outside(request);
    return answerStats(patientReads, request, { kind: 'app', id, clientId }, { app: { id, name } });
  },
});
