/**
 * What a notification asks for, to whom and how: its columns, as they are written when it is
 * accepted and read with each claim. A further one is told to workers without anybody between.
 */

import type { Columns } from '../../../database/rows.ts';
import { boolean, integer, integers, json, namesOf } from '../../../database/rows.ts';
import type { Sql } from '../../../database/sql.ts';
import type { Audience, Payload } from '../../../domain/notification.ts';

export interface NotificationTerms {
  readonly audience: Audience;
  readonly payload: Payload;
  /** No device may get it twice, rather none: a send is repeated only if it has surely failed. */
  readonly isAtMostOnce: boolean;
  /** It overtakes other sends of its client. */
  readonly isUrgent: boolean;
  /** Devices a second at most, over all nodes. Null: as many as can be. */
  readonly ratePerSecond: number | null;
}

/** As they are written. */
export const TERMS: Columns<NotificationTerms> = {
  any_tag_ids: integers(({ audience }) => audience.anyTagIds),
  all_tag_ids: integers(({ audience }) => audience.allTagIds),
  none_tag_ids: integers(({ audience }) => audience.noneTagIds),
  audience_condition: json(({ audience }) => audience.condition ?? null),
  payload: json(({ payload }) => payload),
  at_most_once: boolean(({ isAtMostOnce }) => isAtMostOnce),
  urgent: boolean(({ isUrgent }) => isUrgent),
  rate_per_second: integer(({ ratePerSecond }) => ratePerSecond),
};

/** Their names, with commas between them. */
export const termNames = namesOf(TERMS);

/** Of the notification `n`: one value, Audience. */
export const storedAudience = (sql: Sql) => sql`
  json_build_object(
    'anyTagIds', n.any_tag_ids, 'allTagIds', n.all_tag_ids, 'noneTagIds', n.none_tag_ids,
    'condition', n.audience_condition
  )`;

/**
 * As they are read, of the notification `n` for its scope `s`: one value, NotificationTerms. The
 * payload is what a template made for the scope, where one did.
 */
export const termsOf = (sql: Sql) => sql`
  json_build_object(
    'audience', ${storedAudience(sql)},
    'payload', coalesce(n.templated -> 'payloads' -> (s.app_id || '.' || s.platform_id), n.payload),
    'isAtMostOnce', n.at_most_once,
    'isUrgent', n.urgent,
    'ratePerSecond', n.rate_per_second
  )`;
