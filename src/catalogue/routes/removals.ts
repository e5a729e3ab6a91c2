/**
 * `GET /push-admin-api/v3/<client>/removals`: tags that were deleted, or disconnected from an app,
 * and that devices have still to lose; apps that were deleted, and whose data is still to be
 * erased. What is no longer listed is done.
 */

import type { PatientReads } from '../../database/patient-reads.ts';
import type { Sql } from '../../database/sql.ts';
import { isLimited } from '../../domain/caller.ts';
import type { ApiRoute } from '../../http/handler.ts';
import { invalid } from '../../http/json-body.ts';
import { answerList } from '../../http/list-answer.ts';
import { outside } from '../../http/outside.ts';
import { QueryReader } from '../../http/query-reader.ts';
import { tooMuchCounted } from '../../http/too-much-counted.ts';
import type { AppDeletionLeft } from '../list-deletions.ts';
import { listAppDeletionsLeft } from '../list-deletions.ts';
import type { Removal } from '../sql/removals.ts';
import { listRemovals } from '../sql/removals.ts';

const FIRST: readonly number[] = [0];

/** For whoever may see all tags of the client. */
export const removalsRoute = (patientReads: PatientReads): ApiRoute => ({
  operation: 'listRemovals',
  api: 'admin',
  needs: 'read',
  method: 'GET',
  path: '/push-admin-api/v3/:client/removals',
  bodyBytesMax: 0,
  async handle(request, caller) {
    if (isLimited(caller)) return outside(request);
    const reader = new QueryReader(request.query, ['limit', 'cursor']);
    const page = { limit: reader.limit(), after: reader.cursor(FIRST) };
    if (reader.faults.length > 0) return invalid(request, reader.faults);
    const read = await patientReads.run(caller.clientId, (patient) =>
      answerList(request, page, {
        read: ([afterId = 0], limit) => listBoth(patient, caller.clientId, { afterId, limit }),
        keyOf: (removal) => [idOf(removal)],
        show: shown,
      }),
    );
    return read.kind === 'busy' ? tooMuchCounted(request) : read.result;
  },
});

type Listed = Removal | AppDeletionLeft;

/** No tag has the id of an app. */
const idOf = (removal: Listed): number => ('tagId' in removal ? removal.tagId : removal.appId);

async function listBoth(
  sql: Sql,
  clientId: number,
  page: { readonly afterId: number; readonly limit: number },
): Promise<readonly Listed[]> {
  const tags = await listRemovals(sql, clientId, page);
  const apps = await listAppDeletionsLeft(sql, clientId, page);
  return [...tags, ...apps].sort((one, other) => idOf(one) - idOf(other)).slice(0, page.limit);
}

/** A tag that is not deleted was disconnected from these apps. */
const shown = ({ name, deletedAtMs, left, ...removed }: Listed) => ({
  ...removed,
  name,
  deletedAt: deletedAtMs ?? undefined,
  devices: left.reduce((sum, { devices }) => sum + devices, 0),
  devicesByApp: left.map(({ appId, platformId, devices }) => ({ appId, platformId, devices })),
});
