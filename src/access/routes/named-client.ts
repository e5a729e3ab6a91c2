/** The frame of changes that the operator makes of a client, which the path names. */

import { operatorOrigin } from '../../audit/operator-origin.ts';
import { recordChange } from '../../audit/record-change.ts';
import { findClient } from '../../clients/find-client.ts';
import { lockClient } from '../../clients/lock-client.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { AuditedChange } from '../../domain/audit.ts';
import type { Refusal, Result } from '../../http/result.ts';
import { refused } from '../../http/result.ts';
import type { Asked } from '../../http/route.ts';

interface NamedClient {
  readonly clientId: number;
  readonly clientSlug: string;
  record(change: AuditedChange): Promise<void>;
}

export const noClient = (slug: string): Refusal => refused(404, `There is no client ${slug}.`);

export const inNamedClient =
  <Of extends Asked<null, { readonly clientId: string }>, Value>(
    sql: SqlPool,
    change: (tx: Sql, client: NamedClient, asked: Of) => Promise<Result<Value>>,
  ) =>
  (asked: Of): Promise<Result<Value>> =>
    transact(sql, async (tx) => {
      const client = await findClient(tx, asked.path.clientId);
      if (client === null) return noClient(asked.path.clientId);
      const { id: clientId, slug: clientSlug } = client;
      await lockClient(tx, clientId);
      const origin = operatorOrigin(clientId, asked.request);
      const record = (entry: AuditedChange) => recordChange(tx, origin, entry);
      return change(tx, { clientId, clientSlug, record }, asked);
    });
