/** The frame of changes: one transaction, which holds the client and writes the audit log. */

import { recordChange } from '../../audit/record-change.ts';
import { lockClient } from '../../clients/lock-client.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { AuditedChange } from '../../domain/audit.ts';
import type { Caller } from '../../domain/caller.ts';
import type { ClientLimits } from '../../domain/client-limits.ts';
import { originOf } from '../../http/audit-origin.ts';
import { whyNoMore } from '../../http/permission.ts';
import type { Refusal, Result } from '../../http/result.ts';
import { refused } from '../../http/result.ts';
import type { Asked } from '../../http/route.ts';
import { lockAsSuperUser } from '../super-user.ts';

interface HeldClient {
  readonly clientId: number;
  readonly limits: ClientLimits;
  record(change: AuditedChange): Promise<void>;
}

type Change<Of, Ended> = (tx: Sql, client: HeldClient, asked: Of) => Promise<Ended>;

/** A handler that makes a change of the caller's client. */
export const inClient =
  <Of extends Asked<Caller>, Ended>(sql: SqlPool, change: Change<Of, Ended>) =>
  (asked: Of): Promise<Ended> =>
    transact(sql, async (tx) => {
      const limits = await lockClient(tx, asked.caller.clientId);
      return change(tx, held(tx, asked, limits), asked);
    });

/** The same; a fault of the request alone is reported before it takes a connection and a lock. */
export const inClientUnless =
  <Of extends Asked<Caller>, Value>(
    sql: SqlPool,
    refusalOf: (asked: NoInfer<Of>) => Refusal | null,
    change: Change<Of, Result<Value>>,
  ) =>
  async (asked: Of): Promise<Result<Value>> =>
    refusalOf(asked) ?? (await inClient(sql, change)(asked));

/** The same for who is still the super user or an owner. 403: rotated away meanwhile. */
export const asSuperUser =
  <Of extends Asked<Caller>, Value>(sql: SqlPool, change: Change<Of, Result<Value>>) =>
  (asked: Of): Promise<Result<Value>> =>
    transact(sql, async (tx) => {
      const limits = await lockAsSuperUser(tx, originOf(asked.request, asked.caller));
      return limits === null
        ? refused(403, whyNoMore(asked.caller))
        : change(tx, held(tx, asked, limits), asked);
    });

const held = (tx: Sql, { caller, request }: Asked<Caller>, limits: ClientLimits): HeldClient => ({
  clientId: caller.clientId,
  limits,
  record: (change) => recordChange(tx, originOf(request, caller), change),
});
