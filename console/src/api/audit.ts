/** A page of the audit log, by what the address says. */

import type { AuditEntry, Notification } from '../../../packages/client/src/openapi.ts';
import type { ClientApi } from './client.ts';
import { cursorOf, startOfDay } from './page.ts';

export interface AuditPage {
  readonly rows: readonly AuditEntry[];
  readonly cursor: string | null;
}

const PAGE_ROWS = 100;
/** The most that one request answers: a client's changes while one notification was sent. */
const CHANGES_MAX = 1_000;

export async function listAudit(
  api: ClientApi,
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<AuditPage> {
  const from = startOfDay(query.get('from'), 0);
  const to = startOfDay(query.get('to'), 1);
  const cursor = query.get('cursor');
  const { body, headers } = await api.request('GET', '/push-admin-api/v3/{client}/audit', {
    query: {
      limit: PAGE_ROWS,
      ...(from === null ? {} : { from }),
      ...(to === null ? {} : { to }),
      ...(cursor === null ? {} : { cursor }),
    },
    signal,
  });
  return { rows: body, cursor: cursorOf(headers) };
}

/** The newest changes since a notification was submitted, until it had ended. */
export async function listChanges(
  api: ClientApi,
  { acceptedAt, finishedAt }: Notification,
  signal: AbortSignal,
): Promise<readonly AuditEntry[]> {
  const { body } = await api.request('GET', '/push-admin-api/v3/{client}/audit', {
    query: {
      limit: CHANGES_MAX,
      from: acceptedAt,
      // `to` itself is not included.
      ...(finishedAt === undefined ? {} : { to: finishedAt + 1 }),
    },
    signal,
  });
  return body;
}
