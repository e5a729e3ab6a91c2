/** Explains in sentences how the audience of a push is found. */

import type { ExpressionLeaf, ExpressionNode } from '../../domain/audience-expression.ts';
import { isLeaf, leavesOf, operandsOf, partsOf } from '../../domain/audience-expression.ts';
import { counted } from '../../std/counted.ts';
import type { DryRun } from '../accept/accept.ts';
import type { Push, TagReferences } from '../accept/push.ts';
import type { TagReference } from '../accept/targets.ts';

/** @limit tags that a sentence of `estimate` names → it says how many more there are */
const NAMED_MAX = 20;

/** One sentence for each step, in order. */
export function planOf(
  push: Push,
  { audience, unknownTags, isApproximate }: Extract<DryRun, { readonly kind: 'counted' }>,
): readonly string[] {
  const { expression } = push;
  const unknown = new Set(unknownTags);
  const devices = audience.reduce((sum, { count }) => sum + count, 0);
  return [
    ...(expression === undefined
      ? selectionSentences(push, unknown)
      : expressionSentences(expression.root, unknown)),
    `${whereOf(push)}: ${scopesOf(audience)}.`,
    isApproximate
      ? `About ${counted(devices, 'device')}, each once: concluded from a sample.`
      : `${counted(devices, 'device')}, each once.`,
  ];
}

function whereOf({ appIds, appLimit, platformIds }: Push): string {
  const isEveryApp = appIds === null && appLimit === undefined;
  if (platformIds === null) {
    return isEveryApp
      ? 'In every app that a target tag is connected to'
      : 'Only in the apps that were named';
  }
  return isEveryApp
    ? 'Only on the platforms that were named'
    : 'Only in the apps and on the platforms that were named';
}

function selectionSentences(
  { target, filter, exclude }: Push,
  unknown: ReadonlySet<TagReference>,
): readonly string[] {
  const known = (references: TagReferences) => namesOf(references).filter((n) => !unknown.has(n));
  const missing = namesOf(filter).filter((name) => unknown.has(name));
  const targets = known(target);
  return [
    targets.length === 0
      ? 'No target tag is known and unexpired: nobody is addressed.'
      : `Devices that have ${listOf(targets, 'or')}.`,
    ...(namesOf(filter).length === 0
      ? []
      : [`Of these only devices that also have ${listOf(namesOf(filter), 'and')}.`]),
    ...(missing.length === 0
      ? []
      : [`Nobody has ${listOf(missing, 'and')}, unknown or expired: nobody is left.`]),
    ...(namesOf(exclude).length === 0
      ? []
      : [`None of the devices that have ${listOf(namesOf(exclude), 'or')}.`]),
  ];
}

/** The expression with each `!` at its tag, and the tags that no device has. */
function expressionSentences(
  root: ExpressionNode,
  unknown: ReadonlySet<TagReference>,
): readonly string[] {
  const selecting = new Set(
    operandsOf(root).flatMap((one) => (one.isExcluded ? [] : [one.reference])),
  );
  const missing = [...selecting].filter((name) => unknown.has(name));
  return [
    `Devices that have ${inWords(root)}.`,
    ...(missing.length === 0 ? [] : [`Nobody has ${listOf(missing, 'and')}, unknown or expired.`]),
    ...(missing.length < selecting.size || namesEverybody(root) ? [] : ['Nobody is addressed.']),
  ];
}

const namesEverybody = (root: ExpressionNode): boolean =>
  leavesOf(root).some((leaf) => 'isEverybody' in leaf && !leaf.isExcluded);

/** Parentheses where "and" and "or" meet. */
function inWords(node: ExpressionNode): string {
  if (isLeaf(node)) return `${node.isExcluded ? 'not ' : ''}${leafInWords(node)}`;
  const shown = partsOf(node).map((part) => (isLeaf(part) ? inWords(part) : `(${inWords(part)})`));
  return joined(shown, 'and' in node ? 'and' : 'or');
}

function leafInWords(leaf: ExpressionLeaf): string {
  if ('reference' in leaf) return named(leaf.reference);
  if ('segment' in leaf) return `segment ${JSON.stringify(leaf.segment)}`;
  if (!('test' in leaf)) return 'a subscription';
  const { name, operator, values } = leaf.test;
  if (operator === 'has') return `a value of @${name}`;
  const shown = values.slice(0, NAMED_MAX).map(({ text }) => text);
  const more = values.length - shown.length;
  return `@${name} ${operator} ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const namesOf = ({ ids, sourceIds }: TagReferences): readonly TagReference[] => [
  ...new Set([...ids, ...sourceIds]),
];

const listOf = (names: readonly TagReference[], word: 'and' | 'or'): string =>
  joined(names.map(named), word);

const named = (name: TagReference): string => `tag ${JSON.stringify(name)}`;

function joined(all: readonly string[], word: 'and' | 'or'): string {
  const more = all.length - NAMED_MAX;
  return [...all.slice(0, NAMED_MAX), ...(more > 0 ? [`${more} more`] : [])].join(` ${word} `);
}

const scopesOf = (scopes: readonly { readonly appId: number; readonly platformId: number }[]) =>
  scopes.length === 0
    ? 'the client has none'
    : scopes.map(({ appId, platformId }) => `app ${appId} on platform ${platformId}`).join(', ');
