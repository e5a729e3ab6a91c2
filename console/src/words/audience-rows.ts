/**
 * An audience as rows of conditions, for people who write no expressions: groups of rows, of which
 * all or any hold. Inside a group it is the other way round. The text of rows has a mark where
 * something is to be filled in: nothing is lost by it, and the engine would refuse it.
 */

import type { PickedTag } from '../state/draft.svelte.ts';
import { nameOf } from './expression.ts';

export const TAG = 'tag';
export const SEGMENT = 'segment';
export const EVERYBODY = 'everybody';

/** A condition: `of` is one of the three above, or the name of an attribute after `@`. */
export interface AudienceRow {
  of: string;
  /** `not`: its devices are left out. Of an attribute a comparison, maybe after `not `. */
  operator: string;
  /** The tag, when it is one: none as long as none is chosen. */
  picked: PickedTag[];
  /** A segment's name; the values of an attribute, of `in` several. */
  values: string[];
}

export interface AudienceRows {
  /** All groups hold, or any. */
  isAll: boolean;
  groups: AudienceRow[][];
}

export const newRow = (): AudienceRow => ({ of: TAG, operator: '', picked: [], values: [] });

export const newRows = (): AudienceRows => ({ isAll: true, groups: [[newRow()]] });

/** The name of its attribute; null: it is of none. */
export const attributeOf = ({ of }: AudienceRow): string | null =>
  of.startsWith('@') ? of.slice(1) : null;

export const isList = ({ of, operator }: AudienceRow): boolean =>
  of.startsWith('@') && (operator === 'in' || operator === 'not in');

export const needsValue = ({ of, operator }: AudienceRow): boolean =>
  of === SEGMENT || (of.startsWith('@') && !operator.endsWith('has'));

const HOLE = '…';
const HOLES = new RegExp(`("(?:[^"\\\\]|\\\\.)*")|${HOLE}`, 'g');

/** Whether an expression still has a place that somebody has to fill in. */
export const isUnfinished = (text: string): boolean =>
  [...text.matchAll(HOLES)].some(([, quotation]) => quotation === undefined);

/** The text with `filler` in place of its marks. */
export const withoutHoles = (text: string, filler: string): string =>
  text.replace(HOLES, (_, quotation?: string) => quotation ?? filler);

/** Their expression. '': nothing is chosen at all. */
export function textOfRows({ isAll, groups }: AudienceRows): string {
  const [first, ...others] = groups.flat();
  if (others.length === 0 && (first === undefined || isUntouched(first))) return '';
  const [outer, inner] = isAll ? [' && ', ' || '] : [' || ', ' && '];
  return groups
    .map((rows) => {
      const text = rows.map(textOfRow).join(inner);
      return rows.length > 1 && groups.length > 1 ? `(${text})` : text;
    })
    .join(outer);
}

const isUntouched = ({ of, operator, picked }: AudienceRow): boolean =>
  of === TAG && operator === '' && picked.length === 0;

function textOfRow(row: AudienceRow): string {
  const { of, operator, picked } = row;
  const isNot = operator.startsWith('not');
  const not = isNot ? '!' : '';
  if (of === EVERYBODY) return '*';
  if (of === TAG) return `${not}${picked[0] === undefined ? HOLE : nameOf(picked[0])}`;
  const values = valuesOf(row);
  if (of === SEGMENT) return `${not}$${filled(values[0], BARE_NAME)}`;
  const how = isNot ? operator.slice('not '.length) : operator;
  if (how === 'has') return `${not}${of}`;
  const list = values.length === 0 ? HOLE : values.map((one) => filled(one, BARE_VALUE)).join(', ');
  const test =
    how === 'in' ? `${of} in (${list})` : `${of} ${how} ${filled(values[0], BARE_VALUE)}`;
  return isNot ? `!(${test})` : test;
}

const valuesOf = ({ of, values }: AudienceRow): readonly string[] =>
  values.map((one) => (of === SEGMENT ? one : one.trim())).filter((one) => one !== '');

const BARE_NAME = /^[\p{L}\p{M}\p{N}_.:-]+$/u;
const BARE_VALUE = /^[\p{L}\p{M}\p{N}_.:+/-]+$/u;

function filled(text: string | undefined, bare: RegExp): string {
  if (text === undefined) return HOLE;
  return bare.test(text) ? text : `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
