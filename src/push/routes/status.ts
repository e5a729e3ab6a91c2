/** `GET /push-api/status/:id`: the status of a notification, one row for each scope. */

import { z } from 'zod';
import type { PatientReads } from '../../database/patient-reads.ts';
import { publisherOf } from '../../domain/caller.ts';
import type { NotificationState } from '../../domain/notification.ts';
import { PARKED } from '../../domain/progress.ts';
import { shown } from '../../http/answers.ts';
import type { Route } from '../../http/handler.ts';
import { id, platformId } from '../../http/openapi/parts.ts';
import { done, refuse } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { faultSentence, simulatedFaultSentence } from '../../providers/fault-sentence.ts';
import type { ScopeStatus } from '../sql/notifications/read-status.ts';
import { readStatus } from '../sql/notifications/read-status.ts';
import { countsObject } from './counts.ts';
import { jobId, jobPath, NO_JOB } from './job.ts';
import { COUNTS, JOB_ID, standing } from './push-schemas.ts';

const statusRow = z
  .object({
    key: z.object({ id: jobId, platformId: platformId.nullable() }),
    appId: id.nullable(),
    ...standing,
  })
  .meta({
    id: 'StatusRow',
    description:
      'What has become of a push on one app and platform. Of a job that has ended each row is judged by itself: `FAILED` when a fault of credential or message stopped it before anything was accepted.',
  });

export const statusRoute = (patientReads: PatientReads): Route =>
  routesAt('/push-api/status', { api: 'notification', needs: 'read' }).get(
    'getStatus',
    {
      at: ':id',
      summary: 'The status of a push',
      description:
        'A row for each app and platform that the push is for, also for those without a device; none for a client without apps. A job is kept for `NOTIFICATION_RETENTION_DAYS` (90) after its end: then it is `404`, like one that never existed. `accepted` means that the provider took the message. No provider reports whether a device showed it.',
      path: jobPath,
      answer: shown('A row for each app and platform.', z.array(statusRow), [
        { key: { id: JOB_ID, platformId: 3 }, appId: 1, state: 'FINISHED', ...COUNTS },
      ]),
    },
    async ({ caller, path: { id } }) => {
      const { clientId } = caller;
      const read = await patientReads.run(clientId, (sql) =>
        readStatus(sql, clientId, id, publisherOf(caller)),
      );
      if (read.kind === 'busy') return refuse.tooMuchCounted;
      if (read.result === null) return NO_JOB;
      return done(
        read.result.map((row) => ({
          key: { id, platformId: row.platformId },
          appId: row.appId,
          ...standingOf(row),
        })),
      );
    },
  );

/** The counts of a job in one (app, platform). */
export const standingOf = (row: ScopeStatus) => ({
  state: stateOf(row),
  ...countsObject(row),
  ...faultIn(row),
  ...(row.waitingFor === null ? {} : { waitingFor: faultSentence(row.waitingFor) }),
  ...(row.reasons === null ? {} : { failureReasons: row.reasons }),
  ...(row.uncertain === 0 ? {} : { uncertainCount: row.uncertain }),
  ...(row.heldDeletions === 0 ? {} : { heldDeletionCount: row.heldDeletions }),
  ...(row.parked === 0 ? {} : { parkedCount: row.parked }),
  ...(row.isSimulated ? { simulated: true as const } : {}),
});

/** The fault that stopped the send, or else a sentence about its parked parts. */
function faultIn({ fault, parked, isSimulated }: ScopeStatus): { readonly fault?: string } {
  const known = fault ?? (parked > 0 ? PARKED : null);
  if (known === null) return {};
  return { fault: (isSimulated ? simulatedFaultSentence : faultSentence)(known) };
}

/** FAILED when a fault stopped it before anything was accepted, whatever the other rows. */
function stateOf({ state, fault, delivered }: ScopeStatus): NotificationState {
  if (state !== 'FINISHED' && state !== 'FAILED') return state;
  return fault !== null && delivered === 0 ? 'FAILED' : 'FINISHED';
}
