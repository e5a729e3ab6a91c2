/**
 * Compiles an expression when the push is accepted: all that target, filter and exclude can say
 * becomes their lists; the rest becomes a condition.
 */

import type { AskedAudience, AskedCondition, AskedTest } from '../../domain/asked-audience.ts';
import type { ExpressionLeaf, ExpressionNode } from '../../domain/audience-expression.ts';
import { isLeaf } from '../../domain/audience-expression.ts';

/** Every device of an audience meets it, for each has a tag: it only says whom a push is for. */
export const EVERYBODY = 'everybody';

type Part =
  | number
  | AskedTest
  | typeof EVERYBODY
  | { readonly and: readonly Part[] }
  | { readonly or: readonly Part[] };

/** Says what a leaf asks: of a tag its id, negative where it is excluded. Null: no device. */
type AskedOf = (leaf: ExpressionLeaf) => number | AskedTest | typeof EVERYBODY | null;

export function compileExpression(root: ExpressionNode, askedOf: AskedOf): AskedAudience {
  const whole = partOf(root, askedOf);
  if (whole === null) return { anyTagIds: [], allTagIds: [], noneTagIds: [] };
  const parts = typeof whole === 'object' && 'and' in whole ? whole.and : [whole];
  const single = parts.filter((part) => typeof part === 'number');
  const required = single.filter((literal) => literal > 0);
  const excluded = single.filter((literal) => literal < 0).map((literal) => -literal);
  const rest = parts.filter((part) => typeof part === 'object');
  const conditions = rest.flatMap((part) => withoutEverybody(part) ?? []);
  const { targets, isToEverybody } = addressed(required, conditions);
  return {
    anyTagIds: targets,
    // One target is required already.
    allTagIds: targets.length === 1 ? required.filter((id) => id !== targets[0]) : required,
    noneTagIds: excluded,
    ...(conditions.length === 0 || isAnyOf(conditions)
      ? {}
      : { condition: joinedAsked('and', conditions) }),
    ...(isToEverybody ? { isToEverybody } : {}),
  };
}

/** A device that meets the expression has one of the targets, or is of everybody. */
function addressed(
  required: readonly number[],
  conditions: readonly AskedCondition[],
): { readonly targets: readonly number[]; readonly isToEverybody: boolean } {
  const leaves = conditions.flatMap(leavesIn);
  const alternatives = leaves.filter((leaf) => typeof leaf === 'number').filter((id) => id > 0);
  if (conditions.some(isBounded)) return { targets: distinct(alternatives), isToEverybody: false };
  const targets = distinct([...required, ...alternatives]);
  return { targets, isToEverybody: required.length === 0 };
}

/** Null: no device meets it. */
function partOf(node: ExpressionNode, askedOf: AskedOf): Part | null {
  if (isLeaf(node)) return askedOf(node);
  if ('and' in node) {
    const parts = node.and.map((part) => partOf(part, askedOf));
    const met = parts.filter((part) => part !== null);
    return met.length < parts.length ? null : joined('and', met);
  }
  const parts = node.or.flatMap((part) => partOf(part, askedOf) ?? []);
  return parts.length === 0 ? null : joined('or', parts);
}

/** Without repetitions, and without parts that are joined in the same way as the whole. */
function joined(how: 'and' | 'or', parts: readonly Part[]): Part {
  const flat = parts.flatMap((part): readonly Part[] => {
    if (typeof part !== 'object' || 'subject' in part) return [part];
    if (how === 'and') return 'and' in part ? part.and : [part];
    return 'or' in part ? part.or : [part];
  });
  const some = distinct(flat);
  const [first] = some;
  if (some.length === 1 && first !== undefined) return first;
  return how === 'and' ? { and: some } : { or: some };
}

/** Nothing that names everybody becomes something that does. */
const joinedAsked = (how: 'and' | 'or', parts: readonly AskedCondition[]): AskedCondition =>
  joined(how, parts) as AskedCondition;

/** The rest that is asked of a device with a tag. Null: nothing. */
function withoutEverybody(part: Part): AskedCondition | null {
  if (part === EVERYBODY) return null;
  if (typeof part === 'number' || 'subject' in part) return part;
  const parts = partsIn(part).map(withoutEverybody);
  const left = parts.filter((one) => one !== null);
  if ('or' in part) return left.length < parts.length ? null : joinedAsked('or', left);
  return left.length === 0 ? null : joinedAsked('and', left);
}

function leavesIn(condition: AskedCondition): readonly (number | AskedTest)[] {
  if (typeof condition !== 'object' || 'subject' in condition) return [condition];
  return partsIn(condition).flatMap(leavesIn);
}

const partsIn = <P>(
  joined: { readonly and: readonly P[] } | { readonly or: readonly P[] },
): readonly P[] => ('and' in joined ? joined.and : joined.or);

/** Whether every device that meets it has a tag that it selects by. */
function isBounded(condition: AskedCondition): boolean {
  if (typeof condition === 'number') return condition > 0;
  if ('subject' in condition) return false;
  return 'and' in condition ? condition.and.some(isBounded) : condition.or.every(isBounded);
}

/** Whether all that it asks is one of some tags. */
const isAnyOf = ([first, ...others]: readonly AskedCondition[]): boolean =>
  others.length === 0 &&
  typeof first === 'object' &&
  'or' in first &&
  first.or.every((part) => typeof part === 'number' && part > 0);

const distinct = <T>(values: readonly T[]): readonly T[] => [...new Set(values)];
