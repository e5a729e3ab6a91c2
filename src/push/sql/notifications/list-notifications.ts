/** The notifications of a client, newest first, with what has become of their devices. */

import type { Fragment, Sql } from '../../../database/sql.ts';
import type { NotificationState, ShownCounts } from '../../../domain/notification.ts';
import { hasEnded } from '../../../domain/notification.ts';
import { idsBetween } from '../../../domain/uuid-v7.ts';
import { sumsOfBegun } from '../ledger/begun-counts.ts';
import { hasTitleWords } from './title-words.ts';

/** Null: whichever. */
interface NotificationFilter {
  readonly state: NotificationState | null;
  /** Could go to this app. */
  readonly appId: number | null;
  /** One of its target tags. */
  readonly tagId: number | null;
  /** Accepted at this time or later, and before that one; epoch milliseconds. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
  /** Who has submitted it. */
  readonly publisher: string | null;
  /** Only those that a fault stopped on some app and platform. */
  readonly hasFaults: boolean;
  /** Each of its words begins a word of the title that is listed. */
  readonly q: string | null;
}

/** When what happened to a notification, or is to; epoch milliseconds, null: not yet, or never. */
export interface NotificationTimes {
  readonly acceptedAt: number;
  readonly sendAt: number;
  readonly expiresAt: number | null;
  readonly firstSendAt: number | null;
  readonly lastSendAt: number | null;
  readonly finishedAt: number | null;
}

export interface ListedNotification extends NotificationTimes, ShownCounts {
  readonly id: string;
  readonly state: NotificationState;
  readonly userName: string;
  /** The beginning of its title, else of its message; null: it shows neither. */
  readonly title: string | null;
  /** Null: no fault has stopped it anywhere. */
  readonly faults: readonly ScopeFault[] | null;
  readonly audience: ListedAudience;
  /** In order. */
  readonly platformIds: readonly number[];
}

/** The beginning of an audience: it may name a thousand tags. */
interface ListedAudience {
  readonly tagIds: readonly number[];
  readonly filterTagIds: readonly number[];
  readonly excludeTagIds: readonly number[];
  /** In all three lists, those included that are left out. */
  readonly tagCount: number;
  /** Null: it was given as selections. */
  readonly expression: string | null;
}

interface ScopeFault {
  readonly appId: number;
  readonly platformId: number;
  readonly fault: string;
}

/**
 * Some tenths of a second.
 * @limit push jobs whose titles `q` looks through, the newest of the period → older ones are not
 * found
 */
export const SEARCHED_MAX = 20_000;
const TITLE_LENGTH_MAX = 200;
/** @limit tags of each list of an audience in the list of push jobs → the first ones; `tagCount` says how many there are */
export const LISTED_TAGS_MAX = 10;
/** @limit characters of an audience's expression in the list of push jobs → its beginning */
export const LISTED_EXPRESSION_MAX = 200;

/** The columns of NotificationTimes, of the notification `n`. */
export const timesOf = (sql: Sql) => sql`
  floor(extract(epoch from n.accepted_at) * 1000)::float8 as "acceptedAt",
  floor(extract(epoch from n.send_at) * 1000)::float8 as "sendAt",
  floor(extract(epoch from n.expires_at) * 1000)::float8 as "expiresAt",
  floor(extract(epoch from n.first_send_at) * 1000)::float8 as "firstSendAt",
  floor(extract(epoch from n.last_send_at) * 1000)::float8 as "lastSendAt",
  floor(extract(epoch from n.finished_at) * 1000)::float8 as "finishedAt"`;

/** `before`: the id of the last one of the page before; null: the first page. */
export function listNotifications(
  sql: Sql,
  clientId: number,
  filter: NotificationFilter,
  { before, limit }: { readonly before: string | null; readonly limit: number },
) {
  const { first, end } = idsBetween(filter.fromMs, filter.toMs);
  const ids = { first, below: before !== null && before < end ? before : end, end };
  const isListed = isOneOf(sql, clientId, filter, ids);
  return sql<ListedNotification[]>`
    select n.id, n.state, n.user_name as "userName", ${timesOf(sql)}, c.*,
      left(coalesce(n.payload ->> 'title', n.payload ->> 'message', n.payload ->> 'body'), ${TITLE_LENGTH_MAX}::integer) as title,
      (
        select json_agg(json_build_object('appId', s.app_id, 'platformId', s.platform_id, 'fault', s.fault) order by s.app_id, s.platform_id)
        from notification_scopes s where s.notification_id = n.id and s.fault is not null
      ) as faults,
      ${listedAudience(sql)} as audience,
      (
        select coalesce(json_agg(distinct s.platform_id order by s.platform_id), '[]')
        from notification_scopes s where s.notification_id = n.id
      ) as "platformIds",
      (
        select coalesce(sum(s.withheld), 0)::float8 from notification_scopes s
        where s.notification_id = n.id
      ) as withheld
    from (
      ${filter.hasFaults ? stoppedSomewhere(sql, ids, isListed) : sql`select * from notifications n where ${isListed} order by n.id desc`}
      limit ${limit}::integer
    ) n
    cross join lateral (
      select coalesce(sum(total), 0)::bigint as total, coalesce(sum(delivered), 0)::bigint as delivered,
        coalesce(sum(failed), 0)::bigint as failed, coalesce(sum(skipped), 0)::bigint as skipped,
        coalesce(sum(expired), 0)::bigint as expired, coalesce(sum(cancelled), 0)::bigint as cancelled
      from (
        select total, delivered, failed, skipped, expired, cancelled
        from notification_scopes s where s.notification_id = n.id
        union all
        ${sumsOfBegun(sql, sql`true`)}
      ) counted
    ) c
    order by n.id desc`;
}

const listedAudience = (sql: Sql) => sql`json_build_object(
  'tagIds', n.any_tag_ids[1:${LISTED_TAGS_MAX}::integer],
  'filterTagIds', n.all_tag_ids[1:${LISTED_TAGS_MAX}::integer],
  'excludeTagIds', n.none_tag_ids[1:${LISTED_TAGS_MAX}::integer],
  'tagCount', cardinality(n.any_tag_ids) + cardinality(n.all_tag_ids) + cardinality(n.none_tag_ids),
  'expression', left(n.audience_expression, ${LISTED_EXPRESSION_MAX}::integer)
)`;

/** The ids that a page may have: from `first`, until before `below`; all pages, before `end`. */
interface Ids {
  readonly first: string;
  readonly below: string;
  readonly end: string;
}

/** No index has the words of titles: the newest are looked through. */
const isSearched = (sql: Sql, clientId: number, { first, end }: Ids) => sql`
  n.id >= coalesce((
    select id from notifications
    where client_id = ${clientId} and id < ${end}::uuid and id >= ${first}::uuid
    order by id desc offset ${SEARCHED_MAX - 1}::integer limit 1
  ), ${first}::uuid)`;

const isOneOf = (
  sql: Sql,
  clientId: number,
  { state, appId, tagId, fromMs, toMs, publisher, q }: NotificationFilter,
  ids: Ids,
) => sql`
  n.client_id = ${clientId} and n.id < ${ids.below}::uuid and n.id >= ${ids.first}::uuid
  ${state === null ? sql`` : inState(sql, state)}
  ${tagId === null ? sql`` : sql`and n.any_tag_ids @> array[${tagId}::integer]`}
  ${appId === null ? sql`` : goesTo(sql, appId)}
  ${publisher === null ? sql`` : sql`and n.user_name = ${publisher}`}
  ${q === null ? sql`` : sql`and ${isSearched(sql, clientId, ids)} and ${hasTitleWords(sql, q)}`}
  ${fromMs === null ? sql`` : sql`and n.accepted_at >= to_timestamp(${fromMs}::float8 / 1000)`}
  ${toMs === null ? sql`` : sql`and n.accepted_at < to_timestamp(${toMs}::float8 / 1000)`}`;

/**
 * Goes through the index of faults, newest first, until the page is full: a client may have a
 * million notifications and few faults. `offset 0` keeps the database from another way.
 */
const stoppedSomewhere = (sql: Sql, { first, below }: Ids, isListed: Fragment) => sql`
  select n.* from (
    select distinct notification_id from notification_scopes
    where fault is not null and notification_id < ${below}::uuid and notification_id >= ${first}::uuid
    order by notification_id desc
  ) s
  cross join lateral (
    select * from notifications n where n.id = s.notification_id and ${isListed} offset 0
  ) n
  order by s.notification_id desc`;

/** Those that are not final have an index of their own, so that the ended ones cost nothing. */
const inState = (sql: Sql, state: NotificationState) =>
  hasEnded(state)
    ? sql`and n.state = ${state}`
    : sql`and n.state = ${state} and n.finished_at is null`;

const goesTo = (sql: Sql, appId: number) => sql`
  and exists (
    select from notification_scopes s where s.notification_id = n.id and s.app_id = ${appId}::integer
  )`;
