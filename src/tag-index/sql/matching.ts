/**
 * The one condition of all three queries: any of the first tags, all of the second, none of the
 * third.
 */

import type { Audience } from '../../domain/notification.ts';
import type { Sql } from '../../store/sql.ts';
import { list } from '../../store/sql.ts';

/** Of a device's row. */
export const matches = (sql: Sql, { anyTagIds, allTagIds, noneTagIds }: Audience) => sql`
  tag_ids && ${list(anyTagIds)}::integer[] and tag_ids @> ${list(allTagIds)}::integer[]
  and not tag_ids && ${list(noneTagIds)}::integer[]`;
