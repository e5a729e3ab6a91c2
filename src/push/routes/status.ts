/** `GET /push-api/status/:id`: the status of a notification, one row for each scope. */

import type { PatientReads } from '../../database/patient-reads.ts';
import type { Caller } from '../../domain/caller.ts';
import { publisherOf } from '../../domain/caller.ts';
import type { NotificationState } from '../../domain/notification.ts';
import { PARKED } from '../../domain/progress.ts';
import type { ApiRoute, HttpRequest, HttpResponse } from '../../http/handler.ts';
import { json } from '../../http/json-body.ts';
import { tooMuchCounted } from '../../http/too-much-counted.ts';
import { faultSentence, simulatedFaultSentence } from '../../providers/fault-sentence.ts';
import type { ScopeStatus } from '../sql/notifications/read-status.ts';
import { readStatus } from '../sql/notifications/read-status.ts';
import { countsObject } from './counts.ts';
import { jobIdOf, unknownJob } from './job.ts';

export function statusRoute(reads: PatientReads): ApiRoute {
  return {
    operation: 'getStatus',
    api: 'notification',
    needs: 'read',
    method: 'GET',
    path: '/push-api/status/:id',
    bodyBytesMax: 0,
    handle: (request, caller) => status(reads, request, caller),
  };
}

async function status(
  reads: PatientReads,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse> {
  const { clientId } = caller;
  const publisher = publisherOf(caller);
  const id = jobIdOf(request);
  if (id === null) return unknownJob(request);
  const read = await reads.run(clientId, (sql) => readStatus(sql, clientId, id, publisher));
  if (read.kind === 'busy') return tooMuchCounted(request);
  const rows = read.result;
  if (rows === null) return unknownJob(request);
  return json(
    rows.map((row) => ({
      key: { id, platformId: row.platformId },
      appId: row.appId,
      ...standingOf(row),
    })),
  );
}

/** What has become of it in one (app, platform). */
export const standingOf = (row: ScopeStatus) => ({
  state: stateOf(row),
  ...countsObject(row),
  ...faultIn(row),
  ...(row.waitingFor === null ? {} : { waitingFor: faultSentence(row.waitingFor) }),
  ...(row.reasons === null ? {} : { failureReasons: row.reasons }),
  ...(row.uncertain === 0 ? {} : { uncertainCount: row.uncertain }),
  ...(row.heldDeletions === 0 ? {} : { heldDeletionCount: row.heldDeletions }),
  ...(row.parked === 0 ? {} : { parkedCount: row.parked }),
  ...(row.isSimulated ? { simulated: true } : {}),
});

/** The fault that stopped the send, or else a sentence about its parked parts. */
function faultIn({ fault, parked, isSimulated }: ScopeStatus): { readonly fault?: string } {
  const known = fault ?? (parked > 0 ? PARKED : null);
  if (known === null) return {};
  return { fault: (isSimulated ? simulatedFaultSentence : faultSentence)(known) };
}

/**
 * Each row is a send of its own: it is FAILED when a fault stopped it before anything was accepted,
 * independent of the other rows.
 */
function stateOf({ state, fault, delivered }: ScopeStatus): NotificationState {
  if (state !== 'FINISHED' && state !== 'FAILED') return state;
  return fault !== null && delivered === 0 ? 'FAILED' : 'FINISHED';
}
