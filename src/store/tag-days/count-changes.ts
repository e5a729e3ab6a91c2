/** Counts, by tag and day, what a statement changed: one sorted upsert, however many devices it concerned. */

import type { Sql } from '../sql.ts';

/** For a statement with a query `changed` that has `tag_id`, `gained` and `lost`: answers the tags. */
export const countChanges = (tx: Sql, slot: number) => tx`
  insert into tag_days (tag_id, day, slot, subscribed, unsubscribed)
  select tag_id, (now() at time zone 'utc')::date, ${slot}::smallint, sum(gained), sum(lost)
  from changed
  group by tag_id
  order by tag_id
  on conflict (tag_id, day, slot) do update set
    subscribed = tag_days.subscribed + excluded.subscribed,
    unsubscribed = tag_days.unsubscribed + excluded.unsubscribed
  returning tag_id`;
