/** What every index asks of an audience. */

import type { Audience } from '../domain/notification.ts';

/** Every tag whose devices have to be looked at. */
export const concernedTagIds = ({ anyTagIds, allTagIds, noneTagIds }: Audience): number[] => [
  ...new Set([...anyTagIds, ...allTagIds, ...noneTagIds]),
];

/** Without target tags nobody is meant, whatever else is asked for. */
export const isNobody = ({ anyTagIds }: Audience): boolean => anyTagIds.length === 0;
