/**
 * The one condition of all queries, as a text search whose words are a device's tags: a value, so
 * that the statement is the same for all audiences. One that asks for attributes has a statement
 * of its own, and so has one for everybody.
 */

import type { Fragment, Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import { conditionOf } from '../../domain/audience.ts';
import type { AudienceCondition } from '../../domain/audience-condition.ts';
import { literalsOf } from '../../domain/audience-condition.ts';
import type { Audience } from '../../domain/notification.ts';
import type { AskedLanguages } from '../tag-index.ts';

/** Whether a device's row matches the audience. */
export function matches(sql: Sql, audience: Audience) {
  const { anyTagIds, allTagIds, noneTagIds, isToEverybody } = audience;
  const condition = conditionOf(audience);
  const isTarget =
    isToEverybody === true
      ? sql`cardinality(tag_ids) > 0`
      : sql`tag_ids && ${list(anyTagIds)}::integer[]`;
  return sql`
    ${isTarget} and tag_ids @> ${list(allTagIds)}::integer[]
    and not tag_ids && ${list(noneTagIds)}::integer[]
    ${condition === null ? sql`` : sql`and ${meets(sql, audience, condition)}`}`;
}

/**
 * PostgreSQL refuses a text search of too many words.
 * @limit tags and values of attributes in one text search of the tag index → lists of them
 */
const WORDS_MAX = 256;

/** Whether a device's row meets the condition. */
function meets(sql: Sql, audience: Audience, condition: AudienceCondition): Fragment {
  if (typeof condition === 'number' || literalsOf(condition).length <= WORDS_MAX) {
    return sql`${wordsOf(sql, audience)} @@ ${queryOf(condition)}::tsquery`;
  }
  const isAnd = 'and' in condition;
  const parts = isAnd ? condition.and : condition.or;
  // Each of these decides alone: `and` has those that exclude, `or` those that include.
  const isListed = (part: AudienceCondition): part is number =>
    typeof part === 'number' && part < 0 === isAnd;
  const ids = list(parts.filter(isListed).map(Math.abs));
  const hasAny = sql`exists (
    select from unnest(tag_ids || facet_ids) as of_device (id) where of_device.id = any(${ids}::integer[])
  )`;
  const others = parts.filter((part) => !isListed(part)).map((part) => meets(sql, audience, part));
  return others.reduce<Fragment>(
    (all, other) => (isAnd ? sql`(${all} and ${other})` : sql`(${all} or ${other})`),
    isAnd ? sql`not ${hasAny}` : hasAny,
  );
}

/** The words of a device: its tags, and where an audience asks, its values of attributes. */
const wordsOf = (sql: Sql, { facetIds = [] }: Audience) =>
  facetIds.length === 0
    ? sql`array_to_tsvector(tag_ids::text[])`
    : sql`array_to_tsvector((tag_ids || facet_ids)::text[])`;

/** Which of the languages a device's row has, the first one, from 1; 0: none. */
export const languageIn = (sql: Sql, languages: AskedLanguages): Fragment =>
  isByTags(languages) ? languageByTags(sql, languages) : languageByValues(sql, languages);

const isByTags = (languages: AskedLanguages): languages is readonly number[] =>
  typeof languages[0] === 'number';

const languageByTags = (sql: Sql, tagIds: readonly number[]) => sql`
  coalesce((
    select min(place) from unnest(${list(tagIds)}::integer[]) with ordinality as l (id, place)
    where id = any (tag_ids)
  ), 0)::integer`;

/** Finds the few values of a device in an object of perhaps thousands. */
function languageByValues(sql: Sql, languages: readonly (readonly number[])[]) {
  const places = languages.flatMap((facetIds, at) => facetIds.map((id) => [id, at + 1] as const));
  return sql`
    coalesce((
      select min(((select ${JSON.stringify(Object.fromEntries(places))}::text::jsonb) -> f.id::text)::integer)
      from unnest(facet_ids) as f (id)
    ), 0)`;
}

function queryOf(condition: AudienceCondition): string {
  if (typeof condition === 'number') return condition < 0 ? `!${-condition}` : String(condition);
  const [parts, operator] = 'and' in condition ? [condition.and, '&'] : [condition.or, '|'];
  return `(${parts.map(queryOf).join(operator)})`;
}
