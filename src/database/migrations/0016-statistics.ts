/**
 * Statistics by day of what was sent, which stay when the notifications go, and the number of
 * subscribers of an app (decision 48).
 */

export const name = '0016-statistics';

export const sql = `
-- What the notifications of a tag, or of an app, have come to, by the UTC day on which they were accepted. Tags and apps share
-- one sequence of ids. The day -infinity has what was before the days that are kept.
create table notification_days (
  object_id integer not null,
  day date not null,
  notifications bigint not null,
  delivered bigint not null,
  failed bigint not null,
  last_accepted_at timestamptz not null,
  primary key (object_id, day)
) with (fillfactor = 50);

-- The notifications that have ended and that no day counts yet. A row lives for seconds.
create table ended_notifications (
  notification_id uuid primary key
);

-- Set with the end: it was put into the table above. What nodes of the version before have ended is put there later.
alter table notifications add column is_end_listed boolean not null default false;
create index notifications_unlisted on notifications (id) where finished_at is not null and not is_end_listed;

-- When the devices with tags were counted, to correct what tag_days says of the tag 0: nodes of the version before do not count there.
alter table app_platforms add column subscribers_counted_at timestamptz;
`;
