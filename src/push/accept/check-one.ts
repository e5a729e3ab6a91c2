/** Looks up and checks one push that is not accepted with others. */

import type { Sql } from '../../database/sql.ts';
import type { Evaluator } from '../../templates/evaluator.ts';
import type { Checked } from './check.ts';
import { check } from './check.ts';
import type { Content } from './contents.ts';
import { contentsOf } from './contents.ts';
import { lookUp } from './look-up.ts';
import type { Push, PushFault } from './push.ts';
import { resolveTargets } from './targets.ts';

interface CheckParts {
  readonly sql: Sql;
  readonly evaluator: Evaluator;
}

/** Never used: there is a content for each push. */
export const NOTHING: Content = { kind: 'fit', payload: { data: {} }, templated: null };

/** `knownFaults`: faults that depend on the present time only. */
export async function checkOne(
  parts: CheckParts,
  clientId: number,
  push: Push,
  knownFaults: readonly PushFault[],
): Promise<Checked> {
  const [known] = await lookUp(parts.sql, clientId, [push]);
  if (known === undefined) throw new Error('nothing was looked up');
  const targets = resolveTargets(push, known.tags, known.scopes);
  const asked = [{ push, scopes: targets.scopes }];
  const [content = NOTHING] = await contentsOf(parts, clientId, asked);
  return check(targets, content, knownFaults);
}
