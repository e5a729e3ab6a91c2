/** Random expressions over tags, their texts, and what they mean, evaluated plainly. */

import * as fc from 'fast-check';
import type { AskedAudience } from '../../src/domain/asked-audience.ts';
import { withFacets } from '../../src/domain/asked-audience.ts';
import type { ExpressionNode } from '../../src/domain/audience-expression.ts';
import type { Audience } from '../../src/domain/notification.ts';
import { compileExpression, EVERYBODY } from '../../src/push/accept/compile-expression.ts';

export type Tree =
  | { readonly tag: number }
  | { readonly not: Tree }
  | { readonly and: readonly Tree[] }
  | { readonly or: readonly Tree[] };

/** Trees over some of these tags, a few levels deep. */
export function trees(tags: readonly number[]): fc.Arbitrary<Tree> {
  const { tree } = fc.letrec<{ tree: Tree }>((tie) => {
    const parts = fc.array(tie('tree'), { minLength: 1, maxLength: 3 });
    return {
      tree: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.record({ tag: fc.constantFrom(...tags) }),
        fc.record({ not: tie('tree') }),
        fc.record({ and: parts }),
        fc.record({ or: parts }),
      ),
    };
  });
  return tree;
}

/** Whether a device with these tags is meant. */
export function means(tree: Tree, tagIds: ReadonlySet<number>): boolean {
  if ('tag' in tree) return tagIds.has(tree.tag);
  if ('not' in tree) return !means(tree.not, tagIds);
  if ('and' in tree) return tree.and.every((part) => means(part, tagIds));
  return tree.or.some((part) => means(part, tagIds));
}

/** With parentheses only where a weaker operator stands inside of a stronger one. */
export function textOf(tree: Tree, nameOf: (tag: number) => string): string {
  const text = (part: Tree): string => textOf(part, nameOf);
  if ('tag' in tree) return nameOf(tree.tag);
  if ('not' in tree) return `!${isJoined(tree.not) ? `(${text(tree.not)})` : text(tree.not)}`;
  if ('or' in tree) return tree.or.map(text).join(' || ');
  return tree.and.map((part) => ('or' in part ? `(${text(part)})` : text(part))).join('&&');
}

const isJoined = (tree: Tree): boolean => 'and' in tree || 'or' in tree;

/** All sets of some tags. */
export const subsetsOf = (tags: readonly number[]): readonly ReadonlySet<number>[] =>
  Array.from(
    { length: 2 ** tags.length },
    (_, bits) => new Set(tags.filter((_, place) => (bits >> place) % 2 === 1)),
  );

/** An audience that has no tests, as an index is asked for it. */
export const plain = (asked: AskedAudience): Audience =>
  withFacets(asked, () => {
    throw new Error('it has a test');
  });

/** The audience of an expression over tags. `idOf`: null: no device has the tag. */
export const compiledOf = (
  root: ExpressionNode,
  idOf: (reference: number | string) => number | null,
): Audience =>
  plain(
    compileExpression(root, (leaf) => {
      if ('isEverybody' in leaf) return leaf.isExcluded ? null : EVERYBODY;
      if (!('reference' in leaf)) throw new Error('it has more than tags');
      const id = idOf(leaf.reference);
      return id !== null && leaf.isExcluded ? -id : id;
    }),
  );
