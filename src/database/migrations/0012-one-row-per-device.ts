/**
 * A device has its tags in its own row; a table lists the device groups that may have a tag;
 * subscribers are counted as they come and go. The table of subscriptions is dropped (decision 42).
 */

export const name = '0012-one-row-per-device';

/**
 * Nodes of the previous version write subscriptions, which no longer exist: the operator has to
 * stop them first.
 */
export const needs = '0012-one-row-per-device';

export const sql = `
-- A node that was left running is still committing: what it commits after these tables were read would be dropped with them.
lock table devices, subscriptions, tag_days, device_groups in access exclusive mode;

-- The rows are written once, in their order: an update of each would leave the table twice as large.
create table devices_with_tags (
  app_id integer not null,
  platform_id smallint not null,
  ordinal integer not null,
  -- First 128 bits of SHA-256(device_id): a B-tree entry cannot hold 16 KiB of text.
  device_key uuid not null,
  device_id text not null,
  app_version text,
  -- Of the last reg or set that was written: APNs' 410 counts only when its timestamp is later (decision 42).
  registered_at timestamptz not null,
  -- Of the last ureg, for retention.
  unsubscribed_at timestamptz,
  -- Sends at different times that refused the token, since the last one that did not or the last registration.
  refusals smallint not null default 0,
  refused_at timestamptz,
  -- Where APNs took its token, when that is not where it was asked first.
  apns_environment text check (apns_environment in ('production', 'sandbox')),
  -- Sorted, without repetitions. May still name tags that were deleted or disconnected a while ago.
  tag_ids integer[] not null default '{}'
) with (fillfactor = 85);

insert into devices_with_tags
select d.app_id, d.platform_id, d.ordinal, d.device_key, d.device_id, d.app_version, d.registered_at, d.unsubscribed_at,
  d.refusals, d.refused_at, d.apns_environment, coalesce(s.tag_ids, '{}')
from devices d
left join (
  select app_id, platform_id, ordinal, array_agg(tag_id order by tag_id) as tag_ids
  from subscriptions group by app_id, platform_id, ordinal
) s using (app_id, platform_id, ordinal)
order by d.app_id, d.platform_id, d.ordinal;

-- Which groups of devices may have a tag: never fewer than have. A pair is added, and removed, under the lock of the group's row.
create table device_group_tags (
  app_id integer not null,
  platform_id smallint not null,
  tag_id integer not null,
  group_number integer not null,
  primary key (app_id, platform_id, tag_id, group_number)
);

insert into device_group_tags
select distinct app_id, platform_id, tag_id, ordinal / 8192 from subscriptions order by 1, 2, 3, 4;

-- Raised with every removal of a pair: what a process remembers of the group's pairs is of one epoch.
alter table device_groups add column tags_epoch integer not null default 0;

-- By app and platform too, so that what a tag gained and lost altogether is how many subscribers it has. Days of the version
-- before know no app; what the tag had then stands under the day -infinity.
alter table tag_days
  add column app_id integer not null default 0,
  add column platform_id smallint not null default 0,
  drop constraint tag_days_pkey,
  add primary key (tag_id, app_id, platform_id, day, slot);

insert into tag_days (tag_id, app_id, platform_id, day, slot, subscribed)
select tag_id, app_id, platform_id, '-infinity', 0, count(*)
from subscriptions group by tag_id, app_id, platform_id order by tag_id, app_id, platform_id;

-- What an app says after it is written, also if it changes nothing: an import compares with it.
alter table app_platforms add column repetitions_written_from timestamptz;

drop table subscriptions;
drop table devices;
alter table devices_with_tags rename to devices;
alter table devices
  add primary key (app_id, platform_id, ordinal),
  -- The key first: without statistics a planner takes any index that begins with app and platform for a look-up by ordinal
  -- too, and reads all devices of the app for each. changed-since.ts knows the constraint by its name.
  add constraint devices_device_key unique (device_key, app_id, platform_id);
`;
