/** Facts about an audience that every index needs. */

import type { Audience } from '../domain/notification.ts';

/** All tags that decide whether a device matches. */
export const concernedTagIds = (audience: Audience): number[] => [
  ...new Set(Object.values(audience).flat()),
];

/** An audience without target tags has no device, whatever its other tags are. */
export const isNobody = ({ anyTagIds }: Audience): boolean => anyTagIds.length === 0;
