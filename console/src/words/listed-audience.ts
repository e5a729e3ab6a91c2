/** Says by names to whom a listed notification went. */

import type { ListedNotification } from '../../../packages/client/src/openapi.ts';
import { notificationTexts as texts } from '../texts/notifications.ts';
import { number, platformName } from './format.ts';

type Listed = Pick<ListedNotification, 'audience' | 'platformIds'>;
export type TagNames = ReadonlyMap<number, string>;

/** The ids whose names are shown, the first of each list. */
export const shownTagIds = ({ audience }: Listed, shownMax: number): readonly number[] =>
  audience.expression === undefined
    ? [audience.tagIds, audience.filterTagIds, audience.excludeTagIds].flatMap((ids) =>
        ids.slice(0, shownMax),
      )
    : [];

/** `names`: those that are known; a tag that is gone has its id. */
export function audienceInWords(listed: Listed, names: TagNames, shownMax: number): string {
  const { tagIds, filterTagIds, excludeTagIds, tagCount, expression } = listed.audience;
  if (expression !== undefined) return expression;
  const named = (ids: readonly number[]) =>
    ids
      .slice(0, shownMax)
      .map((id) => names.get(id) ?? `#${id}`)
      .join(', ');
  const left = tagCount - shownTagIds(listed, shownMax).length;
  const parts = [
    named(tagIds),
    filterTagIds.length === 0 ? '' : texts.onlyWith(named(filterTagIds)),
    excludeTagIds.length === 0 ? '' : texts.without(named(excludeTagIds)),
    left === 0 ? '' : texts.moreTags(number(left)),
  ];
  return parts.filter(Boolean).join(' · ');
}

export const platformsInWords = ({ platformIds }: Listed): string =>
  platformIds.map(platformName).join(', ');
