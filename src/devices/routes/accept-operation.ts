/** Accepts bulk operations: the part that all of them have in common. */

import type { Sql } from '../../database/sql.ts';
import type { AuditedChange } from '../../domain/audit.ts';
import { BULK_OPEN_PER_CLIENT_MAX } from '../../domain/bulk-operation.ts';
import type { Caller } from '../../domain/caller.ts';
import { accepted } from '../../http/answers.ts';
import type { Refusal } from '../../http/result.ts';
import { done, refused } from '../../http/result.ts';
import type { NewBulkOperation } from '../sql/insert-operation.ts';
import { countOpenBulkOperations, insertBulkOperation } from '../sql/insert-operation.ts';
import { readBulkOperation } from '../sql/read-operations.ts';
import { bulkOperation, operationPathOf, shownTo } from './bulk-resources.ts';

export const BACKGROUND =
  'It is carried out in the background, after the earlier ones of the client: `getBulkOperation` shows how far it is. Each device gets the whole change, or nothing of it. A client may have 100 operations that have not ended, else `429`.';
export const acceptedOperation = (example: object) =>
  accepted('Accepted, and durable.', bulkOperation, example, {
    Location: 'Where the operation is.',
  });

/** 429, if the client has as many operations as it may. Only under its lock that is for certain. */
export async function refusedFull(sql: Sql, clientId: number): Promise<Refusal | null> {
  if ((await countOpenBulkOperations(sql, clientId)) < BULK_OPEN_PER_CLIENT_MAX) return null;
  const detail = `This client has ${BULK_OPEN_PER_CLIENT_MAX} operations that have not ended: ask again when one has.`;
  return refused(429, detail, { headers: { 'Retry-After': RETRY_AFTER_SECONDS } });
}

/** The caller of it holds the client's lock. */
export async function acceptOperation(
  tx: Sql,
  caller: Caller,
  record: (change: AuditedChange) => Promise<void>,
  operation: Omit<NewBulkOperation, 'clientId' | 'userName'>,
) {
  const { clientId, userName } = caller;
  const full = await refusedFull(tx, clientId);
  if (full !== null) return full;
  const id = await insertBulkOperation(tx, { ...operation, clientId, userName });
  const made = await readBulkOperation(tx, { clientId, userName: null }, id);
  if (made === null) throw new Error(`operation ${id} is inserted, and not there`);
  const { action, total } = operation;
  const detail = { action, devices: total };
  await record({ action: 'operation.create', id, name: null, detail });
  return done(shownTo(caller, made), { headers: { Location: operationPathOf(caller, id) } });
}

/** A list of devices takes a second or so. */
const RETRY_AFTER_SECONDS = '5';
