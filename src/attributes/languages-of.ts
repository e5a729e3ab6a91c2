/** Finds which values of the attribute `language` each text of a payload is for, at this moment. */

import type { Sql } from '../database/sql.ts';
import { LANGUAGE_ID } from '../domain/attributes.ts';
import { longestPrefix } from '../domain/language-tag.ts';
import { readFacets } from './sql/read-facets.ts';

/** The values of each of the languages: those of which it is the longest prefix. */
export async function languagesOf(
  sql: Sql,
  clientId: number,
  languages: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const facets = await readFacets(sql, clientId, { whole: [LANGUAGE_ID] });
  const found = new Map<string, number[]>(languages.map((language) => [language, []]));
  for (const { id, value } of facets) {
    const language = longestPrefix(value, found);
    if (language !== null) found.get(language)?.push(id);
  }
  return found;
}
