/** Puts the segments of a push in their places, before anything else is made of it. */

import type { Sql } from '../../database/sql.ts';
import { segmentsOf } from '../../domain/audience-expression.ts';
import type { Caller } from '../../domain/caller.ts';
import { isLimited } from '../../domain/caller.ts';
import type { Fault } from '../../http/problem.ts';
import { expandSegments } from '../accept/expand-segments.ts';
import type { Push } from '../accept/push.ts';

interface ExpandedPush {
  readonly push: Push;
  /** A repeated request ignores them: the segment may have been changed since. */
  readonly faults: readonly Fault[];
}

export async function expandPush(sql: Sql, caller: Caller, push: Push): Promise<ExpandedPush> {
  const { expression } = push;
  if (expression === undefined || segmentsOf(expression.root).length === 0) {
    return { push, faults: [] };
  }
  const { clientId } = caller;
  const expanded = await expandSegments(expression, {
    sql,
    clientId,
    tellsNames: !isLimited(caller),
  });
  return expanded.ok
    ? { push: { ...push, expression: expanded.expression }, faults: [] }
    : { push, faults: [{ path: 'audience', ...expanded.fault }] };
}
