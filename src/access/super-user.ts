/**
 * Checks again, within the transaction, that the caller may still act as super user or owner: nodes
 * remember callers, and a rotated credential must not end the one after it.
 */

import { lockClient } from '../clients/lock-client.ts';
import type { Sql } from '../database/sql.ts';
import type { AuditActor, AuditOrigin } from '../domain/audit.ts';
import type { ClientLimits } from '../domain/client-limits.ts';
import { isInForce } from './sql/is-in-force.ts';
import { readMember } from './sql/memberships.ts';

/** Locks the client; its limits. Null: the caller is not its super user or owner any more. */
export async function lockAsSuperUser(
  tx: Sql,
  { clientId, actor }: Pick<AuditOrigin, 'clientId' | 'actor'>,
): Promise<ClientLimits | null> {
  const limits = await lockClient(tx, clientId);
  return (await isSuperUser(tx, clientId, actor)) ? limits : null;
}

async function isSuperUser(tx: Sql, clientId: number, actor: AuditActor): Promise<boolean> {
  switch (actor.kind) {
    case 'account':
      return (await readMember(tx, clientId, actor.id))?.role === 'owner';
    case 'credential':
      return await isInForce(tx, clientId, actor.name);
    case 'key':
      return false;
    case 'operator':
    case 'engine':
      return true;
  }
}
