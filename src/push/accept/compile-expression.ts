/**
 * Compiles an expression when the push is accepted: all that target, filter and exclude can say
 * becomes their lists; the rest becomes a condition.
 */

import type { AudienceCondition } from '../../domain/audience-condition.ts';
import { literalsOf } from '../../domain/audience-condition.ts';
import type { ExpressionNode, Operand } from '../../domain/audience-expression.ts';
import type { Audience } from '../../domain/notification.ts';

/** `idOf`: the id of a tag; null: no device has it where it selects. */
export function compileExpression(
  root: ExpressionNode,
  idOf: (operand: Operand) => number | null,
): Audience {
  const whole = conditionOf(root, idOf);
  if (whole === null) return { anyTagIds: [], allTagIds: [], noneTagIds: [] };
  const parts = typeof whole === 'object' && 'and' in whole ? whole.and : [whole];
  const single = parts.filter((part) => typeof part === 'number');
  const required = single.filter((literal) => literal > 0);
  const excluded = single.filter((literal) => literal < 0).map((literal) => -literal);
  const rest = parts.filter((part) => typeof part === 'object');
  const alternatives = rest.flatMap(literalsOf).filter((literal) => literal > 0);
  // Who meets the expression has one of these.
  const targets = distinct(rest.some(isBounded) ? alternatives : [...required, ...alternatives]);
  return {
    anyTagIds: targets,
    // One target is required already.
    allTagIds: targets.length === 1 ? required.filter((id) => id !== targets[0]) : required,
    noneTagIds: excluded,
    ...(rest.length === 0 || isAnyOf(rest) ? {} : { condition: joined('and', rest) }),
  };
}

/** Null: no device meets it. */
function conditionOf(
  node: ExpressionNode,
  idOf: (operand: Operand) => number | null,
): AudienceCondition | null {
  if ('reference' in node) {
    const id = idOf(node);
    return id !== null && node.isExcluded ? -id : id;
  }
  if ('and' in node) {
    const parts = node.and.map((part) => conditionOf(part, idOf));
    const met = parts.filter((part) => part !== null);
    return met.length < parts.length ? null : joined('and', met);
  }
  const parts = node.or.flatMap((part) => conditionOf(part, idOf) ?? []);
  return parts.length === 0 ? null : joined('or', parts);
}

/** Without repetitions, and without parts that are joined in the same way as the whole. */
function joined(how: 'and' | 'or', parts: readonly AudienceCondition[]): AudienceCondition {
  const flat = parts.flatMap((part) => {
    if (typeof part === 'number') return [part];
    if (how === 'and') return 'and' in part ? part.and : [part];
    return 'or' in part ? part.or : [part];
  });
  const some = distinct(flat);
  const [first] = some;
  if (some.length === 1 && first !== undefined) return first;
  return how === 'and' ? { and: some } : { or: some };
}

/** Whether every device that meets the condition has a tag that the condition selects by. */
function isBounded(condition: AudienceCondition): boolean {
  if (typeof condition === 'number') return condition > 0;
  return 'and' in condition ? condition.and.some(isBounded) : condition.or.every(isBounded);
}

/** Whether all that it asks is one of some tags. */
const isAnyOf = ([first, ...others]: readonly AudienceCondition[]): boolean =>
  others.length === 0 &&
  typeof first === 'object' &&
  'or' in first &&
  first.or.every((part) => typeof part === 'number' && part > 0);

const distinct = <T>(values: readonly T[]): readonly T[] => [...new Set(values)];
