/**
 * The one condition of all queries, as a text search whose words are a device's tags: a value, so
 * that the statement is the same for all audiences. One that asks for attributes has a statement
 * of its own, and so has one for everybody.
 */

import { entryAtPlace, placesOfEntries } from '../../database/number-entries.ts';
import type { Fragment, Sql } from '../../database/sql.ts';
import { list, textList } from '../../database/sql.ts';
import { conditionOf } from '../../domain/audience.ts';
import type { AudienceCondition } from '../../domain/audience-condition.ts';
import { isRowTest, literalsOf, partsOf } from '../../domain/audience-condition.ts';
import type { DayAttribute, DaysTest } from '../../domain/device-days.ts';
import type { NumbersTest } from '../../domain/device-numbers.ts';
import type { Audience } from '../../domain/notification.ts';
import type { RowTest } from '../../domain/row-tests.ts';
import type { AskedLanguages } from '../tag-index.ts';

/**
 * Leaves out the devices of a bitmap, by their offsets from `start`. Undefined: no device. A query
 * of its own is decoded once, also by a plan for any bitmap; else with each device.
 */
export const isNotIn = (sql: Sql, leftOut: Uint8Array | undefined, start: number) =>
  leftOut === undefined
    ? sql``
    : sql`and get_bit((select decode(${Buffer.from(leftOut).toString('hex')}::text, 'hex')), ordinal - ${start}::integer) = 0`;

/** Only the devices of a bitmap, by their offsets from `start`. Undefined: all. */
export const isIn = (sql: Sql, named: Uint8Array | undefined, start: number) =>
  named === undefined
    ? sql``
    : sql`and get_bit((select decode(${Buffer.from(named).toString('hex')}::text, 'hex')), ordinal - ${start}::integer) = 1`;

/** Whether a device's row matches the audience. */
export function matches(sql: Sql, audience: Audience) {
  const { anyTagIds, allTagIds, noneTagIds, isToEverybody, isNamed } = audience;
  if (isNamed === true) return sql`true`;
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
  if (isRowTest(condition)) return meetsRow(sql, condition);
  return typeof condition !== 'number' && audience.asksRows === true && asksRows(condition)
    ? meetsWithRows(sql, audience, condition)
    : meetsIds(sql, audience, condition);
}

const asksRows = (condition: AudienceCondition): boolean =>
  isRowTest(condition) || (typeof condition === 'object' && partsOf(condition).some(asksRows));

type Joined = Exclude<AudienceCondition, number | RowTest>;

/** Tests of rows apart from the ids, which stay one text search. */
function meetsWithRows(sql: Sql, audience: Audience, condition: Joined): Fragment {
  const isAnd = 'and' in condition;
  const parts = partsOf(condition);
  const ids = parts.filter((part) => !asksRows(part));
  const ofIds = ids.length === 0 ? [] : [isAnd ? { and: ids } : { or: ids }];
  const apart = [...ofIds, ...parts.filter(asksRows)].map((part) => meets(sql, audience, part));
  return apart.reduce((all, one) => (isAnd ? sql`(${all} and ${one})` : sql`(${all} or ${one})`));
}

interface DayColumn {
  readonly column: Fragment;
  /** When the day begins, as a value of the column. */
  startOf(day: number): Fragment;
}

const DAYS: Readonly<Record<DayAttribute, (sql: Sql) => DayColumn>> = {
  registered: (sql) => ({
    column: sql`registered_on`,
    startOf: (day) => sql`(date '1970-01-01' + ${day}::integer)`,
  }),
  lastSeen: (sql) => ({
    // An import does not know it of each device.
    column: sql`nullif(registered_at, to_timestamp(0))`,
    startOf: (day) => sql`to_timestamp(${day}::float8 * 86400)`,
  }),
};

const meetsRow = (sql: Sql, test: RowTest): Fragment =>
  'day' in test ? isInDays(sql, test) : hasNumbers(sql, test);

/** `bytea` is compared octet by octet, and so are entries. */
function hasNumbers(sql: Sql, { ranges, isExcluded }: NumbersTest): Fragment {
  const entry = entryAtPlace(sql);
  const [first] = ranges;
  const places = placesOfEntries(sql);
  // With one range, as most have, a quarter faster than with a list.
  const within = (from: string, to: string): Fragment =>
    sql`select from ${places} where ${entry} between decode(${from}, 'hex') and decode(${to}, 'hex')`;
  const [lowest = '', highest = ''] = [
    ranges.map(([from]) => from).sort()[0],
    ranges
      .map(([, to]) => to)
      .sort()
      .at(-1),
  ];
  // All are of one attribute, of which a device has one value: that alone is held against the list.
  const has =
    ranges.length === 1 && first !== undefined
      ? within(first[0], first[1])
      : sql`${within(lowest, highest)} and exists (
          select from unnest(${textList(ranges.map(([from]) => octets(from)))}::bytea[],
            ${textList(ranges.map(([, to]) => octets(to)))}::bytea[]) as range (lowest, highest)
          where ${entry} between range.lowest and range.highest)`;
  const isIn = sql`(numbers is not null and exists (${has}))`;
  return isExcluded ? sql`not ${isIn}` : isIn;
}

const octets = (digits: string): string => `\\x${digits}`;

function isInDays(sql: Sql, { day, from, until, isExcluded }: DaysTest): Fragment {
  const { column, startOf } = DAYS[day](sql);
  const isIn = sql`(${column} is not null
    ${from === undefined ? sql`` : sql`and ${column} >= ${startOf(from)}`}
    ${until === undefined ? sql`` : sql`and ${column} < ${startOf(until)}`})`;
  return isExcluded ? sql`not ${isIn}` : isIn;
}

function meetsIds(sql: Sql, audience: Audience, condition: number | Joined): Fragment {
  if (typeof condition === 'number' || literalsOf(condition).length <= WORDS_MAX) {
    return sql`${wordsOf(sql, audience)} @@ ${queryOf(condition)}::tsquery`;
  }
  const isAnd = 'and' in condition;
  const parts = partsOf(condition);
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
  if (isRowTest(condition)) throw new Error('No word of a text search is what only rows know');
  const [parts, operator] = 'and' in condition ? [condition.and, '&'] : [condition.or, '|'];
  return `(${parts.map(queryOf).join(operator)})`;
}
