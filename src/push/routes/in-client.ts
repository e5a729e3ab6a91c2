/** The frame of a change of what a client keeps here: one transaction, which holds the client. */

import { recordChange } from '../../audit/record-change.ts';
import { lockClient } from '../../clients/lock-client.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { AuditedChange } from '../../domain/audit.ts';
import type { Caller } from '../../domain/caller.ts';
import { originOf } from '../../http/audit-origin.ts';
import type { Asked } from '../../http/route.ts';

interface HeldClient {
  readonly clientId: number;
  record(change: AuditedChange): Promise<void>;
}

/** A handler that makes a change, and writes the audit log with it. */
export const inClient =
  <Of extends Asked<Caller>, Ended>(
    sql: SqlPool,
    change: (tx: Sql, client: HeldClient, asked: Of) => Promise<Ended>,
  ) =>
  (asked: Of): Promise<Ended> =>
    transact(sql, async (tx) => {
      const { caller, request } = asked;
      await lockClient(tx, caller.clientId);
      const record = (done: AuditedChange) => recordChange(tx, originOf(request, caller), done);
      return change(tx, { clientId: caller.clientId, record }, asked);
    });
