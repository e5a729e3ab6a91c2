/** Looks for notifications by the words of the title that lists show. */

import type { Fragment, Sql } from '../../../database/sql.ts';

/** Named one by one: what a letter is depends on the locale of the database. */
const SEPARATORS = String.raw`[\s\u0021-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007e\u00a0\u00a1\u00ab\u00b7\u00bb\u00bf\u2000-\u206f\u3000-\u303f\uff01-\uff0f\uff1a-\uff1f]+`;
const SEPARATED = new RegExp(SEPARATORS);

/** A condition on notifications `n`: each word of the text begins a word of the title. */
export function hasTitleWords(sql: Sql, text: string): Fragment {
  const words = text.split(SEPARATED).filter((word) => word !== '');
  if (words.length === 0) return sql`false`;
  // No quote and no backslash is left in a word: both are separators.
  const query = words.map((word) => `'${word}':*`).join(' & ');
  return sql`
    array_to_tsvector(array_remove(string_to_array(regexp_replace(
      lower(left(coalesce(n.payload ->> 'title', n.payload ->> 'message', n.payload ->> 'body'), 200)),
      ${SEPARATORS}, ' ', 'g'
    ), ' '), '')) @@ lower(${query})::tsquery`;
}
