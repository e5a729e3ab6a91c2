/**
 * `GET …/removals`: deleted or disconnected tags that devices have still to lose, and deleted apps
 * whose data is still to be erased. What is no longer listed is done.
 */

import { z } from 'zod';
import type { PatientReads } from '../../database/patient-reads.ts';
import type { Sql } from '../../database/sql.ts';
import { isLimited } from '../../domain/caller.ts';
import { listed } from '../../http/answers.ts';
import { rowsOf } from '../../http/list-answer.ts';
import { count, epochMs, id, orAbsent, platformId } from '../../http/openapi/parts.ts';
import { cursorFrom, LIMIT } from '../../http/parameters.ts';
import { refuse } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import type { AppDeletionLeft } from '../list-deletions.ts';
import { listAppDeletionsLeft } from '../list-deletions.ts';
import type { Removal } from '../sql/removals.ts';
import { listRemovals } from '../sql/removals.ts';
import { patientRows } from './patient-rows.ts';

const removal = z.object({
  tagId: id.optional(),
  appId: id.optional(),
  name: z.string(),
  deletedAt: orAbsent(epochMs.meta({ description: 'Absent: it was disconnected.' })),
  devices: count,
  devicesByApp: z.array(z.object({ appId: id, platformId, devices: count })),
});
const REMOVAL = {
  tagId: 8,
  name: 'Goals',
  deletedAt: 1_795_392_000_000,
  devices: 1,
  devicesByApp: [{ appId: 1, platformId: 3, devices: 1 }],
};

/** Lists removals, for callers that may see all tags of the client. */
export const removalsRoute = (patientReads: PatientReads) =>
  routesAt('/push-admin-api/v3/:client/removals', { api: 'admin', needs: 'read' }).get(
    'listRemovals',
    {
      summary: 'Tags that devices have still to lose, and apps that are being erased',
      description:
        'Tags that were deleted, or disconnected from an app, and apps that were deleted: they are gone for everybody at once, and housekeeping takes them off the devices piece by piece, while sends and registrations go on. A deleted tag from 5 minutes later on, a disconnected one within seconds. What is no longer listed is done. Of the devices of an app a million on each platform are counted. With `"devices": 0` only its push jobs and counts are left.',
      query: { limit: LIMIT, cursor: cursorFrom([0]) },
      answer: listed('Tags and apps, by id.', removal, [REMOVAL]),
    },
    ({ caller, query }) => {
      if (isLimited(caller)) return refuse.outside();
      const { clientId } = caller;
      return patientRows(patientReads, clientId, (sql) =>
        rowsOf(query, {
          read: ([afterId = 0], limit) => listBoth(sql, clientId, { afterId, limit }),
          keyOf: ({ id }) => [id],
        }),
      );
    },
  );

async function listBoth(
  sql: Sql,
  clientId: number,
  page: { readonly afterId: number; readonly limit: number },
) {
  const tags = await listRemovals(sql, clientId, page);
  const apps = await listAppDeletionsLeft(sql, clientId, page);
  return [...tags, ...apps]
    .map(asListed)
    .sort((one, other) => one.id - other.id)
    .slice(0, page.limit);
}

/** A tag that is not deleted was disconnected from these apps. No tag has the id of an app. */
const asListed = (row: Removal | AppDeletionLeft) => ({
  ...row,
  id: 'tagId' in row ? row.tagId : row.appId,
  deletedAt: row.deletedAtMs,
  devices: row.left.reduce((sum, { devices }) => sum + devices, 0),
  devicesByApp: row.left,
});
