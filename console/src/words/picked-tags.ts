/** Chosen tags as people read them: the tags of a group that was chosen whole are one thing. */

import type { PickedTag } from '../state/draft.svelte.ts';
import { sendTexts as texts } from '../texts/send.ts';
import { number } from './format.ts';

export interface Chip {
  /** Its own among all chips. */
  readonly key: string;
  readonly label: string;
  readonly tags: readonly PickedTag[];
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
