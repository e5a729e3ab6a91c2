/**
 * The terms of a notification, as columns: written when it is accepted, read with each claim. A
 * further column reaches workers without another change.
 */

import type { Columns } from '../../../database/rows.ts';
import { boolean, constantList, integer, integers, json, namesOf } from '../../../database/rows.ts';
import type { Sql } from '../../../database/sql.ts';
import type { AskedAudience } from '../../../domain/asked-audience.ts';
import type { Payload } from '../../../domain/notification.ts';
import type { PushOptionName, PushOptions } from '../../../domain/push-options.ts';
import { PUSH_OPTION_NAMES, pushOption } from '../../../domain/push-options.ts';
import { HELD_RATE } from './held-rate.ts';

export interface NotificationTerms extends PushOptions {
  readonly audience: AskedAudience;
  readonly payload: Payload;
}

export const optionColumns = (names: readonly PushOptionName[]): Columns<PushOptions> =>
  Object.fromEntries(
    names.map((name) => {
      const { column, type } = pushOption(name);
      const write = type === 'boolean' ? boolean : integer;
      return [column, (write as typeof integer)<PushOptions>((options) => options[name] as number)];
    }),
  );

const OTHER_TERMS: Columns<NotificationTerms> = {
  all_tag_ids: integers(({ audience }) => audience.allTagIds),
  none_tag_ids: integers(({ audience }) => audience.noneTagIds),
  audience_condition: json(({ audience }) => audience.condition ?? null),
  is_to_everybody: boolean(({ audience }) => audience.isToEverybody ?? null),
  payload: json(({ payload }) => payload),
  ...optionColumns(PUSH_OPTION_NAMES),
};

export const TERMS: Columns<NotificationTerms> = {
  any_tag_ids: integers(({ audience }) => audience.anyTagIds),
  ...OTHER_TERMS,
};

/** Their names, with commas between them. */
export const termNames = namesOf(TERMS);
/** The same without the targets, any_tag_ids. */
export const otherTermNames = namesOf(OTHER_TERMS);

const eachOption = (write: (column: string, name: string) => string) =>
  constantList(PUSH_OPTION_NAMES.map((name) => write(pushOption(name).column, name)));

/** The options of the notification `n`, under their names. */
export const selectedOptions = eachOption((column, name) => `n.${column} as "${name}"`);

const optionPairs = eachOption(
  (column, name) => `'${name}', ${name === 'ratePerSecond' ? HELD_RATE : `n.${column}`}`,
);

export const storedAudience = (sql: Sql) => sql`
  json_build_object(
    'anyTagIds', n.any_tag_ids, 'allTagIds', n.all_tag_ids, 'noneTagIds', n.none_tag_ids,
    'condition', n.audience_condition, 'isToEverybody', n.is_to_everybody
  )`;

/**
 * One value, NotificationTerms, of `n` for its scope `s`; the payload may be a template's, and the
 * rate is the one that it is held to now.
 */
export const termsOf = (sql: Sql) => sql`
  json_build_object(
    'audience', ${storedAudience(sql)},
    'payload', coalesce(n.templated -> 'payloads' -> (s.app_id || '.' || s.platform_id), n.payload),
    ${optionPairs(sql)}
  )`;
