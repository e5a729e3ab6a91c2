/** Holds a push to the policies of its client: its category, and the caps of that. */

import { readPolicies } from '../../clients/policies.ts';
import type { Sql } from '../../database/sql.ts';
import type { Caller } from '../../domain/caller.ts';
import { capTermsOf, categoryOf } from '../../domain/policies.ts';
import type { Fault } from '../../http/problem.ts';
import type { Refusal } from '../../http/result.ts';
import { refused } from '../../http/result.ts';
import type { Push } from '../accept/push.ts';

type HeldPush =
  | {
      readonly ok: true;
      readonly push: Push;
      /** A repeated request ignores them: the policies may have been changed since. */
      readonly faults: readonly Fault[];
    }
  | Refusal;

export const mayIgnoreCaps = ({ key }: Caller): boolean =>
  key === undefined || key.scopes.includes('override');

export const NO_OVERRIDE = refused(
  403,
  'Only the super user, owners and keys with the scope override may ignore the caps of a category.',
);

/** Nothing is read for a push that names no category, of a client without policies. */
export async function holdToPolicies(sql: Sql, caller: Caller, push: Push): Promise<HeldPush> {
  const { category: name, ignoresCaps: ignores } = push;
  if (ignores === true && !mayIgnoreCaps(caller)) return NO_OVERRIDE;
  if (name === undefined && caller.hasPolicies !== true) return { ok: true, push, faults: [] };
  const policies = await readPolicies(sql, caller.clientId);
  const found = categoryOf(policies, name);
  if (!found.ok) {
    return { ok: true, push, faults: [{ path: 'category', message: found.why }] };
  }
  const { category } = found;
  if (category === null) return { ok: true, push, faults: [] };
  const caps = capTermsOf(policies, category, ignores === true);
  return { ok: true, push: { ...push, policy: { category: category.name, caps } }, faults: [] };
}
