/** Finds the operands of an audience: what it asks of each device, one by one, in their order. */

import { findReferencedTags } from '../../catalogue/find-referenced-tags.ts';
import type { Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import type { AskedAudience, AskedTest } from '../../domain/asked-audience.ts';
import { askedTestsOf } from '../../domain/asked-audience.ts';
import type { Attribute } from '../../domain/attributes.ts';
import type { ExpressionLeaf, ExpressionNode } from '../../domain/audience-expression.ts';
import { leavesOf, operandsOf } from '../../domain/audience-expression.ts';
import { operandText, tagText } from '../../domain/operand-text.ts';
import { isId } from '../../domain/tag.ts';
import { compileExpression, EVERYBODY } from '../accept/compile-expression.ts';
import type { Known } from '../accept/look-up.ts';
import { resolveTest } from '../accept/resolve-test.ts';

/** One thing that is asked of a device. */
export interface AskedOperand {
  /** Stands so in an expression, with its `!`. */
  readonly text: string;
  /** It stands under an odd number of `!`. */
  readonly isExcluded: boolean;
  readonly asks:
    | { readonly kind: 'tag'; readonly id: number | null }
    | { readonly kind: 'attribute'; readonly test: AskedTest | null }
    | { readonly kind: 'everybody' };
  /** The job did not mean it: no device meets it, also under `!`. Absent: it did. */
  readonly isForgotten?: true;
}

/** Says what the names of an expression mean. Null: nothing, so each device lacks it. */
interface Meanings {
  readonly tagIdOf: (reference: number | string, isExcluded: boolean) => number | null;
  readonly attributes: ReadonlyMap<string, Attribute>;
}

/** Those of an expression whose segments are in their places; each once. */
export function operandsIn(root: ExpressionNode, meanings: Meanings): readonly AskedOperand[] {
  const operands = leavesOf(root).flatMap((leaf): readonly AskedOperand[] => {
    const asks = askedBy(leaf, meanings);
    return asks === null ? [] : [{ text: operandText(leaf), isExcluded: leaf.isExcluded, asks }];
  });
  return [...new Map(operands.map((operand) => [operand.text, operand])).values()];
}

function askedBy(leaf: ExpressionLeaf, { tagIdOf, attributes }: Meanings) {
  if ('isEverybody' in leaf) return { kind: 'everybody' } as const;
  if ('reference' in leaf) {
    return { kind: 'tag', id: tagIdOf(leaf.reference, leaf.isExcluded) } as const;
  }
  if (!('test' in leaf)) return null;
  const resolved = resolveTest(leaf, attributes);
  return { kind: 'attribute', test: resolved.ok ? resolved.test.asked : null } as const;
}

/** The meanings of now, of what was looked up. An expired tag still excludes. */
export function meaningsOf({ tags, attributes = new Map() }: Known): Meanings {
  return {
    attributes,
    tagIdOf: (reference, isExcluded) => {
      const tag = tags.find(({ id, sourceId }) => id === reference || sourceId === reference);
      return tag === undefined || (tag.isExpired && !isExcluded) ? null : tag.id;
    },
  };
}

interface OperandsAsked {
  readonly clientId: number;
  readonly audience: AskedAudience;
  /** Null: it was given as selections, not as an expression. */
  readonly root: ExpressionNode | null;
  readonly attributes: ReadonlyMap<string, Attribute>;
  /** Target and filter tags that address no device any more. */
  readonly lostTagIds: readonly number[];
}

/** Those of a job, by the tags and attributes that it keeps: their names may be others' by now. */
export async function operandsOfJob(
  sql: Sql,
  asked: OperandsAsked,
): Promise<readonly AskedOperand[]> {
  const lost = new Set(asked.lostTagIds);
  const operands = await meantOperands(sql, asked);
  return operands.map((operand) => {
    const { asks, isExcluded } = operand;
    const isLost = asks.kind === 'tag' && !isExcluded && asks.id !== null && lost.has(asks.id);
    return isLost ? { ...operand, asks: { kind: 'tag', id: null } } : operand;
  });
}

async function meantOperands(
  sql: Sql,
  { clientId, audience, root, attributes }: OperandsAsked,
): Promise<readonly AskedOperand[]> {
  const kept = keptBy(audience);
  const names = await namesOf(sql, [...kept.included, ...kept.excluded]);
  if (root === null) return listed(audience, names);
  const idOf = new Map<number | string, number>();
  for (const [id, sourceId] of names) idOf.set(id, id).set(sourceId ?? id, id);
  const references = operandsOf(root).map(({ reference }) => reference);
  const tags = await findReferencedTags(sql, clientId, {
    ids: references.filter(isId),
    sourceIds: references.filter((reference) => typeof reference === 'string'),
  });
  const now = meaningsOf({ tags, scopes: [], attributes });
  const operands = operandsIn(root, {
    attributes,
    tagIdOf: (reference, isExcluded) => {
      const id = idOf.get(reference) ?? null;
      const isKept = id !== null && (isExcluded ? kept.excluded : kept.included).has(id);
      return isKept ? id : now.tagIdOf(reference, isExcluded);
    },
  });
  return asKept(root, operands, kept, names);
}

/**
 * A job does not keep what cannot decide, as `a` in `* || a`. What would decide by the meanings of
 * now, and is not kept, was not known when it was accepted. Where it keeps something that its text
 * does not name any more, all names that it does not keep are another's by now.
 */
function asKept(
  root: ExpressionNode,
  operands: readonly AskedOperand[],
  kept: Kept,
  names: ReadonlyMap<number, string | null>,
): readonly AskedOperand[] {
  const tagged = new Set(
    operands.flatMap((one) => (one.asks.kind === 'tag' ? literalOf(one) : [])),
  );
  const included = [...kept.included].filter((id) => !tagged.has(id));
  const excluded = [...kept.excluded].filter((id) => !tagged.has(-id));
  const tested = new Set(
    operands.flatMap(({ asks }) => (asks.kind === 'attribute' ? (asks.test?.subject ?? []) : [])),
  );
  const isWhole =
    included.length + excluded.length === 0 &&
    [...kept.subjects].every((subject) => tested.has(subject));
  const deciding = decidingIn(root, operands);
  return [
    ...operands.map((operand) =>
      isOf(kept, operand) || (isWhole && !isOf(deciding, operand)) ? operand : forgotten(operand),
    ),
    ...included.map((id) => tagOperand(id, names, false)),
    ...excluded.map((id) => tagOperand(id, names, true)),
  ];
}

/** Compiles the expression with these operands: a job that is accepted now would keep this. */
function decidingIn(root: ExpressionNode, operands: readonly AskedOperand[]): Kept {
  const byText = new Map(operands.map((operand) => [operand.text, operand]));
  const audience = compileExpression(root, (leaf) => {
    const operand = byText.get(operandText(leaf));
    if (operand === undefined) return null;
    const { asks, isExcluded } = operand;
    if (asks.kind === 'tag') return literalOf(operand)[0] ?? null;
    if (asks.kind === 'attribute') return asks.test;
    return isExcluded ? null : EVERYBODY;
  });
  return keptBy(audience);
}

const literalOf = ({ asks, isExcluded }: AskedOperand): readonly number[] => {
  if (asks.kind !== 'tag' || asks.id === null) return [];
  return [isExcluded ? -asks.id : asks.id];
};

function isOf({ included, excluded, subjects }: Kept, { asks, isExcluded }: AskedOperand): boolean {
  if (asks.kind === 'everybody') return true;
  if (asks.kind === 'attribute') return asks.test === null || subjects.has(asks.test.subject);
  return asks.id === null || (isExcluded ? excluded : included).has(asks.id);
}

const forgotten = (operand: AskedOperand): AskedOperand => ({
  ...operand,
  isForgotten: true,
  asks: operand.asks.kind === 'tag' ? { kind: 'tag', id: null } : { kind: 'attribute', test: null },
});

/** The ids that a job asks for. */
interface Kept {
  readonly included: ReadonlySet<number>;
  readonly excluded: ReadonlySet<number>;
  readonly subjects: ReadonlySet<AskedTest['subject']>;
}

function keptBy(audience: AskedAudience): Kept {
  const { anyTagIds, allTagIds, noneTagIds, condition } = audience;
  const literals = condition === null || condition === undefined ? [] : literalsIn(condition);
  const negative = literals.filter((literal) => literal < 0).map((literal) => -literal);
  return {
    // The planner drops an expired target here: then it counts in the condition no more either.
    included: new Set([...anyTagIds, ...allTagIds]),
    excluded: new Set([...noneTagIds, ...negative]),
    subjects: new Set(askedTestsOf(audience).map(({ subject }) => subject)),
  };
}

function literalsIn(condition: NonNullable<AskedAudience['condition']>): readonly number[] {
  if (typeof condition === 'number') return [condition];
  if ('subject' in condition) return [];
  return ('and' in condition ? condition.and : condition.or).flatMap(literalsIn);
}

const listed = (
  { anyTagIds, allTagIds, noneTagIds }: AskedAudience,
  names: ReadonlyMap<number, string | null>,
): readonly AskedOperand[] => [
  ...[...new Set([...anyTagIds, ...allTagIds])].map((id) => tagOperand(id, names, false)),
  ...noneTagIds.map((id) => tagOperand(id, names, true)),
];

function tagOperand(
  id: number,
  names: ReadonlyMap<number, string | null>,
  isExcluded: boolean,
): AskedOperand {
  const text = tagText(names.get(id) ?? id);
  return { text: `${isExcluded ? '!' : ''}${text}`, isExcluded, asks: { kind: 'tag', id } };
}

/** Their source ids, also of tags that were deleted. */
async function namesOf(
  sql: Sql,
  tagIds: readonly number[],
): Promise<ReadonlyMap<number, string | null>> {
  const rows = await sql<{ id: number; sourceId: string | null }[]>`
    select id, source_id as "sourceId" from tags where id = any (${list(tagIds)}::integer[])`;
  return new Map(rows.map(({ id, sourceId }) => [id, sourceId]));
}
