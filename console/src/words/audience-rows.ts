/**
 * An audience as rows of conditions, for people who write no expressions: groups of rows, of which
 * all or any hold. Inside a group it is the other way round.
 */

import type { Attribute } from '../../../packages/client/src/openapi.ts';
import { OPERATORS_OF } from '../../../src/domain/attribute-test.ts';
import type { ExpressionLeaf, ExpressionNode } from '../../../src/domain/audience-expression.ts';
import { isLeaf, readExpression } from '../../../src/domain/audience-expression.ts';
import type { PickedTag } from '../state/draft.svelte.ts';
import { nameOf } from './expression.ts';

/** @limit groups of conditions, and conditions of a group, that the page shows; else it is text */
const ROWS_MAX = 20;

export const TAG = 'tag';
export const SEGMENT = 'segment';
export const EVERYBODY = 'everybody';

/** A condition: `of` is one of the three above, or the name of an attribute behind `@`. */
export interface AudienceRow {
  of: string;
  /** `not`: its devices are left out. Of an attribute an operator, maybe behind `not `. */
  operator: string;
  /** The tag, when it is one: none as long as none is chosen. */
  picked: PickedTag[];
  /** A segment's name; an attribute's value, or its values with commas. */
  value: string;
}

export interface AudienceRows {
  /** Of the groups all hold, or any. */
  isAll: boolean;
  groups: AudienceRow[][];
}

/** A reference to a tag, by which it is found. */
export type TagReference = number | string;

/** Finds the tags of an expression; a tag that it does not answer is gone. */
export type FindTags = (
  references: readonly TagReference[],
) => Promise<ReadonlyMap<TagReference, PickedTag>>;

export const newRow = (): AudienceRow => ({ of: TAG, operator: '', picked: [], value: '' });

export const newRows = (): AudienceRows => ({ isAll: true, groups: [[newRow()]] });

/** The operators of a row: of an attribute by its type. */
export function operatorsOf(of: string, attributes: readonly Attribute[]): readonly string[] {
  if (of === EVERYBODY) return [''];
  if (!of.startsWith('@')) return ['', 'not'];
  const type = attributes.find(({ name }) => `@${name}` === of)?.type;
  if (type === undefined) return [];
  return [...OPERATORS_OF[type], 'not =', 'not in', 'has', 'not has'];
}

export const needsValue = ({ of, operator }: AudienceRow): boolean =>
  of === SEGMENT || (of.startsWith('@') && !operator.endsWith('has'));

const isComplete = (row: AudienceRow): boolean =>
  row.of === TAG ? row.picked.length === 1 : !needsValue(row) || valuesOf(row).length > 0;

/** Its expression. '': a row is not filled in, and what is left would go to more people. */
export function textOfRows({ isAll, groups }: AudienceRows): string {
  if (!groups.flat().every(isComplete)) return '';
  const [outer, inner] = isAll ? [' && ', ' || '] : [' || ', ' && '];
  const isAlone = groups.length === 1;
  return groups
    .map((rows) => {
      const text = rows.map(textOfRow).join(inner);
      return rows.length > 1 && !isAlone ? `(${text})` : text;
    })
    .join(outer);
}

function textOfRow(row: AudienceRow): string {
  const { of, operator, picked, value } = row;
  const isNot = operator.startsWith('not');
  const not = isNot ? '!' : '';
  if (of === EVERYBODY) return '*';
  if (of === TAG) return `${not}${picked[0] === undefined ? '' : nameOf(picked[0])}`;
  if (of === SEGMENT) return `${not}$${quoted(value, BARE_NAME)}`;
  const how = isNot ? operator.slice('not '.length) : operator;
  if (how === 'has') return `${not}${of}`;
  const values = valuesOf(row).map((one) => quoted(one, BARE_VALUE));
  const test = how === 'in' ? `${of} in (${values.join(', ')})` : `${of} ${how} ${values[0] ?? ''}`;
  return isNot ? `!(${test})` : test;
}

function valuesOf({ of, operator, value }: AudienceRow): readonly string[] {
  const isList = of.startsWith('@') && /\bin$/.test(operator);
  return (isList ? value.split(',') : [value])
    .map((one) => (of === SEGMENT ? one : one.trim()))
    .filter((one) => one !== '');
}

const BARE_NAME = /^[\p{L}\p{M}\p{N}_.:-]+$/u;
const BARE_VALUE = /^[\p{L}\p{M}\p{N}_.:+/-]+$/u;

const quoted = (text: string, bare: RegExp): string =>
  bare.test(text) ? text : `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

interface Known {
  readonly attributes: readonly Attribute[];
  readonly segments: readonly string[];
  readonly findTags: FindTags;
}

/** The rows that mean what the expression says; null: there are none, it stays text. */
export async function rowsOf(text: string, known: Known): Promise<AudienceRows | null> {
  const read = readExpression(text, { isSegment: true });
  if (!read.ok) return null;
  const { isAll, groups } = groupsOf(read.expression.root);
  const leaves = groups.flat();
  if (!leaves.every(isLeaf)) return null;
  if (groups.length > ROWS_MAX || groups.some((group) => group.length > ROWS_MAX)) return null;
  const tags = await known.findTags(
    leaves.flatMap((leaf) => (isLeaf(leaf) && 'reference' in leaf ? [leaf.reference] : [])),
  );
  const rows = groups.map((group) =>
    group.flatMap((leaf) => (isLeaf(leaf) ? (rowOf(leaf, known, tags) ?? []) : [])),
  );
  return rows.flat().length === leaves.length ? { isAll, groups: rows } : null;
}

/** Its alternatives, or its requirements, each with its own parts. */
function groupsOf(root: ExpressionNode): {
  readonly isAll: boolean;
  readonly groups: readonly (readonly ExpressionNode[])[];
} {
  if (isLeaf(root)) return { isAll: true, groups: [[root]] };
  const isAll = 'and' in root;
  const parts = isAll ? root.and : root.or;
  const groups = parts.map((part) => {
    if (isLeaf(part)) return [part];
    return 'and' in part ? part.and : part.or;
  });
  return { isAll, groups };
}

function rowOf(
  leaf: ExpressionLeaf,
  { attributes, segments }: Known,
  tags: ReadonlyMap<TagReference, PickedTag>,
): AudienceRow | null {
  const not = leaf.isExcluded ? 'not' : '';
  if ('isEverybody' in leaf) return leaf.isExcluded ? null : { ...newRow(), of: EVERYBODY };
  if ('reference' in leaf) {
    const tag = tags.get(leaf.reference);
    return tag === undefined ? null : { ...newRow(), operator: not, picked: [tag] };
  }
  if ('segment' in leaf) {
    const { segment } = leaf;
    if (!segments.includes(segment)) return null;
    return { ...newRow(), of: SEGMENT, operator: not, value: segment };
  }
  const { name, operator: how, values } = leaf.test;
  const of = `@${name}`;
  const operator = leaf.isExcluded ? `not ${how}` : how;
  if (!operatorsOf(of, attributes).includes(operator)) return null;
  const texts = values.map(({ text }) => text);
  if (how === 'in' && texts.some((text) => text.includes(','))) return null;
  if (texts.some((text) => text !== text.trim())) return null;
  return { ...newRow(), of, operator, value: texts.join(', ') };
}
