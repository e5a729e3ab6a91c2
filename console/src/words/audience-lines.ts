/** Says whom a push is for. */

import type { DraftFields } from '../state/draft.svelte.ts';
import { sendTexts as texts } from '../texts/send.ts';
import { pickedNames } from './picked-tags.ts';

/** The audience by names; of an expression the engine's words. */
export function audienceLines(
  { isExpression, any, all, none }: DraftFields,
  plan: readonly string[],
): readonly string[] {
  if (isExpression) return plan.slice(0, 1);
  return [
    texts.audienceAny(pickedNames(any)),
    ...(all.length === 0 ? [] : [texts.audienceAll(pickedNames(all))]),
    ...(none.length === 0 ? [] : [texts.audienceNone(pickedNames(none))]),
  ];
}
