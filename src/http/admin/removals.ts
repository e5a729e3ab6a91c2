/**
 * `GET /push-admin-api/v3/<client>/removals`: tags that were deleted, or disconnected from an app,
 * and that devices have still to lose. What is no longer listed is done.
 */

import type { Removal } from '../../store/housekeeping/removals.ts';
import { listRemovals } from '../../store/housekeeping/removals.ts';
import type { PatientReads } from '../../store/patient-reads.ts';
import type { ApiRoute } from '../handler.ts';
import { invalid } from '../json-body.ts';
import { isLimited, outside } from '../key-limits.ts';
import { answerList } from '../list-answer.ts';
import { QueryReader } from '../query-reader.ts';
import { tooMuchCounted } from '../too-much-counted.ts';

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
        read: ([afterId = 0], limit) => listRemovals(patient, caller.clientId, { afterId, limit }),
        keyOf: ({ tagId }) => [tagId],
        show: shown,
      }),
    );
    return read.kind === 'busy' ? tooMuchCounted(request) : read.result;
  },
});

/** A tag that is not deleted was disconnected from these apps. */
const shown = ({ tagId, name, deletedAtMs, left }: Removal) => ({
  tagId,
  name,
  deletedAt: deletedAtMs ?? undefined,
  devices: left.reduce((sum, { devices }) => sum + devices, 0),
  devicesByApp: left.map(({ appId, platformId, devices }) => ({ appId, platformId, devices })),
});
