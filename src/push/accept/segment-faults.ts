/** Finds the faults of a segment's expression, before it is kept. */

import { findAttributes } from '../../attributes/find-attributes.ts';
import type { Sql } from '../../database/sql.ts';
import { readExpression, testsOf } from '../../domain/audience-expression.ts';
import { expandSegments } from './expand-segments.ts';
import type { PushFault } from './push.ts';
import { resolveTest } from './resolve-test.ts';

/** Its form, its segments, and its tests. Tags may come later. */
export async function segmentFaults(
  sql: Sql,
  clientId: number,
  name: string,
  text: string,
): Promise<readonly PushFault[]> {
  const read = readExpression(text, { isSegment: true });
  if (!read.ok) return [{ path: 'expression', ...read.fault }];
  const expanded = await expandSegments(read.expression, {
    sql,
    clientId,
    tellsNames: true,
    self: name,
  });
  if (!expanded.ok) return [{ path: 'expression', ...expanded.fault }];
  const tests = testsOf(expanded.expression.root);
  if (tests.length === 0) return [];
  const attributes = await findAttributes(sql, clientId);
  const byName = new Map(attributes.map((attribute) => [attribute.name, attribute]));
  return tests
    .map((test) => resolveTest(test, byName))
    .flatMap((test) => (test.ok ? [] : test.faults))
    .map((fault) => ({ ...fault, path: 'expression' }));
}
