/** Writes an operand of an expression as a publisher writes it, with its `!`. */

import type { ExpressionLeaf } from './audience-expression.ts';

const BARE_NAME = /^[\p{L}\p{M}\p{N}_.:-]+$/u;
const BARE_VALUE = /^[\p{L}\p{M}\p{N}_.:+/-]+$/u;

export const operandText = (leaf: ExpressionLeaf): string =>
  `${leaf.isExcluded ? '!' : ''}${leafText(leaf)}`;

/** A tag by its source id, or by its id where it has none. */
export const tagText = (reference: number | string): string =>
  typeof reference === 'number' ? `#${reference}` : quotedUnless(BARE_NAME, reference);

function leafText(leaf: ExpressionLeaf): string {
  if ('reference' in leaf) return tagText(leaf.reference);
  if ('isEverybody' in leaf) return '*';
  if ('segment' in leaf) return `$${tagText(leaf.segment)}`;
  const { name, operator, values } = leaf.test;
  const [first = '', ...others] = values.map(({ text }) => quotedUnless(BARE_VALUE, text));
  if (operator === 'has') return `@${name}`;
  return operator === 'in'
    ? `@${name} in (${[first, ...others].join(', ')})`
    : `@${name} ${operator} ${first}`;
}

const quotedUnless = (bare: RegExp, text: string): string =>
  bare.test(text) ? text : `"${text.replace(/["\\]/g, '\\$&')}"`;
