/** The operator's action on the limits of a client; a refusal is a sentence. */

import { z } from 'zod';
import { recordChange } from '../audit/record-change.ts';
import type { LimitChanges } from '../clients/client-limits.ts';
import { changeClientLimits, readClientLimits } from '../clients/client-limits.ts';
import type { SqlPool } from '../database/sql.ts';
import { transact } from '../database/transact.ts';
import type { ClientLimitName, ClientLimits } from '../domain/client-limits.ts';
import { CLIENT_LIMIT_NAMES, clientLimitMax, clientLimitMin } from '../domain/client-limits.ts';
import { operatorOrigin } from './audit-origin.ts';
import { slug } from './credential-actions.ts';

/** Null: the default again. */
function limit(name: ClientLimitName) {
  const [min, max] = [clientLimitMin(name), clientLimitMax(name)];
  const why = `must be ${min}–${max}, or default`;
  return z.int(why).min(min, why).max(max, why).nullable().optional();
}

const limits = Object.fromEntries(CLIENT_LIMIT_NAMES.map((name) => [name, limit(name)])) as Record<
  ClientLimitName,
  ReturnType<typeof limit>
>;

export const LIMITS_FORM = z.strictObject({ client: slug, ...limits });

/** Sets limits, if any are given, and answers all that are set then. */
export async function setLimits(
  { sql }: { readonly sql: SqlPool },
  { client, ...changes }: { readonly client: string } & LimitChanges,
): Promise<{ readonly value: ClientLimits } | { readonly fault: string }> {
  const unknown = { fault: `There is no client ${client}.` };
  if (Object.keys(changes).length === 0) {
    const limits = await readClientLimits(sql, client);
    return limits === null ? unknown : { value: limits };
  }
  return transact(sql, async (tx) => {
    const changed = await changeClientLimits(tx, client, changes);
    if (changed === null) return unknown;
    const { id, name, limits } = changed;
    const detail = { fields: Object.keys(changes) };
    await recordChange(tx, operatorOrigin(id), { action: 'client.limits', id, name, detail });
    return { value: limits };
  });
}
