/** Chosen tags as people read them: the tags of a group that was chosen whole are one thing. */

import type { Tag } from '../../../packages/client/src/openapi.ts';
import type { DraftFields, PickedTag } from '../state/draft.svelte.ts';
import { pickedOf } from '../state/tag-offers.svelte.ts';
import { draftTexts } from '../texts/drafts.ts';
import { sendTexts as texts } from '../texts/send.ts';
import { number } from './format.ts';

export interface Chip {
  /** Its own among all chips. */
  readonly key: string;
  readonly label: string;
  readonly tags: readonly PickedTag[];
}

/** The tag with this id; one that is not among the known is gone. */
export function pickedById(id: number, known: readonly Tag[]): PickedTag {
  const tag = known.find((one) => one.id === id);
  return tag === undefined ? { id, name: draftTexts.gone(id), isGone: true } : pickedOf(tag);
}

/** The tags of a draft that were deleted since they were chosen, each with the name of its list. */
export function goneIn({
  isExpression,
  any,
  all,
  none,
  languages,
}: DraftFields): readonly PickedTag[] {
  const ofLanguages = languages.flatMap(({ tags }) => tags);
  const ofAudience = isExpression ? [] : [...any, ...all, ...none];
  return [...ofAudience, ...ofLanguages].filter(({ isGone }) => isGone);
}

export function chipsOf(picked: readonly PickedTag[]): readonly Chip[] {
  const chips = Map.groupBy(picked, ({ id, group }) =>
    group === undefined ? `tag-${id}` : `group-${group.id}`,
  );
  return [...chips].map(([key, tags]) => ({ key, label: labelOf(tags), tags }));
}

function labelOf(tags: readonly PickedTag[]): string {
  const [first] = tags;
  if (first?.group === undefined) return first?.name ?? '';
  return texts.groupOfTags(first.group.name, number(tags.length));
}

/** Their names, with commas between them. */
export const pickedNames = (picked: readonly PickedTag[]): string =>
  chipsOf(picked)
    .map(({ label }) => label)
    .join(', ');
