/** Reads an expression as rows of conditions, where rows can say what it says. */

import type { ExpressionLeaf, ExpressionNode } from '../../../src/domain/audience-expression.ts';
import { isLeaf, partsOf, readExpression } from '../../../src/domain/audience-expression.ts';
import type { PickedTag } from '../state/draft.svelte.ts';
import type { AudienceRow, AudienceRows } from './audience-rows.ts';
import { EVERYBODY, newRow, newRows, SEGMENT, withoutHoles } from './audience-rows.ts';
import type { TestedAttribute } from './tested-attributes.ts';
import { isComparison, isValueOf } from './tested-attributes.ts';

/** @limit conditions that the page shows as rows → the expression stays text */
export const ROWS_MAX = 40;

/** A reference to a tag, by which it is found. */
export type TagReference = number | string;

interface Known {
  readonly attributes: readonly TestedAttribute[];
  /** The names of segments. */
  readonly segments: readonly string[];
  /** Finds the tags of an expression; a tag that it does not answer is gone. */
  readonly findTags: (
    references: readonly TagReference[],
  ) => Promise<ReadonlyMap<TagReference, PickedTag>>;
}

/** Stands for what is to be filled in, while the expression is read. */
const FILLER = '_to_be_filled_in_';

/** The rows that mean what the expression says; null: there are none, it stays text. */
export async function rowsOf(text: string, known: Known): Promise<AudienceRows | null> {
  if (text.trim() === '') return newRows();
  const read = readExpression(withoutHoles(text, FILLER), { isSegment: true });
  if (!read.ok) return null;
  const { isAll, groups } = groupsOf(read.expression.root);
  const nodes = groups.flat();
  const leaves = nodes.filter(isLeaf);
  if (leaves.length < nodes.length || leaves.length > ROWS_MAX) return null;
  const references = leaves.flatMap((leaf) => ('reference' in leaf ? [leaf.reference] : []));
  const tags = await known.findTags(references.filter((one) => one !== FILLER));
  const rows = groups.map((group) =>
    group.filter(isLeaf).flatMap((leaf) => rowOf(leaf, known, tags) ?? []),
  );
  return rows.flat().length < leaves.length ? null : { isAll, groups: rows };
}

/** Its alternatives, or its requirements, each with its own parts. */
function groupsOf(root: ExpressionNode): {
  readonly isAll: boolean;
  readonly groups: readonly (readonly ExpressionNode[])[];
} {
  if (isLeaf(root)) return { isAll: true, groups: [[root]] };
  const groups = partsOf(root).map((part) => (isLeaf(part) ? [part] : partsOf(part)));
  return { isAll: 'and' in root, groups };
}

function rowOf(
  leaf: ExpressionLeaf,
  { attributes, segments }: Known,
  tags: ReadonlyMap<TagReference, PickedTag>,
): AudienceRow | null {
  const not = leaf.isExcluded ? 'not' : '';
  if ('isEverybody' in leaf) return leaf.isExcluded ? null : { ...newRow(), of: EVERYBODY };
  if ('reference' in leaf) {
    if (leaf.reference === FILLER) return { ...newRow(), operator: not };
    const tag = tags.get(leaf.reference);
    return tag === undefined ? null : { ...newRow(), operator: not, picked: [tag] };
  }
  if ('segment' in leaf) {
    const values = filledIn([leaf.segment]);
    const isKnown = values.every((name) => segments.includes(name));
    return isKnown ? { ...newRow(), of: SEGMENT, operator: not, values } : null;
  }
  const { name, operator: how, values } = leaf.test;
  const attribute = attributes.find((one) => one.name === name);
  const operator = leaf.isExcluded ? `not ${how}` : how;
  if (attribute === undefined || !isComparison(attribute, operator)) return null;
  const texts = values.map(({ text }) => text);
  const given = [...new Set(filledIn(texts))];
  if (!given.every((text) => isOfOneLine(text) && isValueOf(attribute, text))) return null;
  return { ...newRow(), of: `@${name}`, operator, values: given };
}

const filledIn = (texts: readonly string[]): string[] => texts.filter((text) => text !== FILLER);

const LINE_END = /[\r\n]/;

/** An input keeps it as it is. */
const isOfOneLine = (text: string): boolean => text === text.trim() && !LINE_END.test(text);
