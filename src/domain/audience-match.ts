/** Whether a device with these tags is in an audience; the tag indexes answer that for many. */

import type { AudienceCondition } from './audience-condition.ts';
import type { Audience } from './notification.ts';

export function isInAudience(audience: Audience, tagIds: readonly number[]): boolean {
  const { anyTagIds, allTagIds, noneTagIds, condition } = audience;
  const has = (tagId: number): boolean => tagIds.includes(tagId);
  // A tag that has left the target tags has expired: nobody has it where it selects.
  const meets = (part: AudienceCondition): boolean => {
    if (typeof part === 'number') {
      return part < 0 ? !has(-part) : has(part) && anyTagIds.includes(part);
    }
    return 'and' in part ? part.and.every(meets) : part.or.some(meets);
  };
  return (
    anyTagIds.some(has) &&
    allTagIds.every(has) &&
    !noneTagIds.some(has) &&
    (condition === undefined || condition === null || meets(condition))
  );
}
