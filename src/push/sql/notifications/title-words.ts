/** Looks for notifications by the words of the title that lists show. */

import type { Fragment, Sql } from '../../../database/sql.ts';

/** The separators of notification_title_words (database/migrations/0045-title-words.ts). */
const SEPARATORS =
  /[\s\u0021-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007e\u00a0\u00a1\u00ab\u00b7\u00bb\u00bf\u2000-\u206f\u3000-\u303f\uff01-\uff0f\uff1a-\uff1f]+/;

/** A condition on notifications `n`: each word of the text begins a word of the title. */
export function hasTitleWords(sql: Sql, clientId: number, text: string): Fragment {
  const words = text.split(SEPARATORS).filter((word) => word !== '');
  if (words.length === 0) return sql`false`;
  // No quote and no backslash is left in a word: both are separators.
  const query = words.map((word) => `'${clientId}:${word}':*`).join(' & ');
  return sql`notification_title_words(n.client_id, n.payload) @@ lower(${query})::tsquery`;
}
