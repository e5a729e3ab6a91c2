/** The one condition of all three questions: any of the first tags, all of the second, none of the third. */

import type { Audience } from '../../domain/notification.ts';
import type { Sql } from '../../store/sql.ts';

/**
 * The `having` of subscriptions grouped by ordinal. A device has a tag at most once (primary key), so counting the
 * rows of the all-of tags counts the tags.
 */
export const matches = (sql: Sql, { anyTagIds, allTagIds, noneTagIds }: Audience) => sql`
  bool_or(tag_id = any(${[...anyTagIds]}::integer[]))
  and count(*) filter (where tag_id = any(${[...allTagIds]}::integer[])) = ${allTagIds.length}::integer
  and not bool_or(tag_id = any(${[...noneTagIds]}::integer[]))`;
