/** Writes the chosen tags as an expression of the API. */

import type { DraftFields, PickedTag } from '../state/draft.svelte.ts';

const BARE = /^[A-Za-z0-9_.:-]+$/;

export function nameOf({ id, sourceId }: PickedTag): string {
  if (sourceId === undefined) return `#${id}`;
  if (BARE.test(sourceId)) return sourceId;
  return `"${sourceId.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** '' as long as no tag is chosen. */
export function expressionOf({ any, all, none }: DraftFields): string {
  if (any.length === 0) return '';
  const one = any.map(nameOf).join(' || ');
  const isAlone = all.length + none.length === 0 || any.length === 1;
  return [
    isAlone ? one : `(${one})`,
    ...all.map(nameOf),
    ...none.map((tag) => `!${nameOf(tag)}`),
  ].join(' && ');
}
