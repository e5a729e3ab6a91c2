/**
 * `GET /push-admin-api/v3/<client>/audit`, and `GET /console/api/audit` for owners: who has changed
 * what, newest first, a page at a time.
 */

import type { PatientReads } from '../../database/patient-reads.ts';
import { AUDIT_ACTIONS, objectKindOf } from '../../domain/audit.ts';
import type { Caller } from '../../domain/caller.ts';
import { isLimited } from '../../domain/caller.ts';
import type { ApiRoute, HttpRequest, HttpResponse, OwnerRoute } from '../../http/handler.ts';
import { invalid } from '../../http/json-body.ts';
import { answerList } from '../../http/list-answer.ts';
import { outside } from '../../http/outside.ts';
import { QueryReader } from '../../http/query-reader.ts';
import { tooMuchCounted } from '../../http/too-much-counted.ts';
import { withSecret } from '../../http/with-secret.ts';
import type { AuditEntry } from '../sql/list-entries.ts';
import { listAuditEntries } from '../sql/list-entries.ts';

/** internals/interface.md, "Admin API". */
const PAGE_DEFAULT = 100;

/** For whoever administers all of the client. */
export const auditRoute = (patientReads: PatientReads): ApiRoute => ({
  operation: 'listAuditEntries',
  api: 'admin',
  needs: 'admin',
  method: 'GET',
  path: '/push-admin-api/v3/:client/audit',
  bodyBytesMax: 0,
  handle: (request, caller) => list(patientReads, request, caller),
});

/** For owners, beside what else they administer. */
export const consoleAuditRoute = (patientReads: PatientReads): OwnerRoute => ({
  api: 'console',
  needs: 'owner',
  operation: 'listConsoleAuditEntries',
  method: 'GET',
  path: '/console/api/audit',
  bodyBytesMax: 0,
  handle: (request, caller) => list(patientReads, request, caller),
});

async function list(
  patientReads: PatientReads,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse> {
  if (isLimited(caller)) return outside(request);
  const query = new QueryReader(request.query, ['limit', 'cursor', 'from', 'to', 'action']);
  const page = { limit: query.limit() ?? PAGE_DEFAULT, after: query.idCursor() };
  const filter = {
    action: query.choice('action', AUDIT_ACTIONS),
    fromMs: query.time('from'),
    toMs: query.time('to'),
  };
  if (query.faults.length > 0) return invalid(request, query.faults);
  const read = await patientReads.run(caller.clientId, (sql) =>
    answerList<AuditEntry, string | null>(request, page, {
      read: (before, limit) => listAuditEntries(sql, caller.clientId, filter, { before, limit }),
      keyOf: ({ id }) => id,
      show: shown,
    }),
  );
  return read.kind === 'busy' ? tooMuchCounted(request) : withSecret(read.result);
}

/** What an entry does not have is left out. */
const shown = (entry: AuditEntry) => ({
  id: entry.id,
  at: entry.atMs,
  count: entry.count === 1 ? undefined : entry.count,
  lastAt: entry.lastAtMs ?? undefined,
  actor: {
    kind: entry.actorKind,
    id: entry.actorId ?? undefined,
    name: entry.actorName ?? undefined,
  },
  action: entry.action,
  object: {
    kind: objectKindOf(entry.action),
    id: entry.objectId ?? undefined,
    name: entry.objectName ?? undefined,
  },
  address: entry.address ?? undefined,
  requestId: entry.requestId ?? undefined,
  detail: entry.detail ?? undefined,
});
