/** The reach of push jobs: which devices may have seen what was sent (decision 74). */

export const name = '0053-reach';

export const sql = `
-- The reach of a job in a group of devices whose part of the send is done: words (push/worker/chunk/reach.ts).
create table push_reach (
  notification_id uuid not null references notifications on delete cascade,
  app_id integer not null,
  platform_id smallint not null,
  group_number integer not null,
  words bytea not null,
  primary key (notification_id, app_id, platform_id, group_number)
);

-- How many devices are in the reach. Null: none is kept, or nothing was recorded yet.
alter table notification_scopes add column reached bigint;
-- How many of delivered and uncertain were recorded with their reach: fewer, if a node of an earlier version recorded some.
alter table notification_scopes add column reach_noted bigint;
-- Of a small send: the number of its group in four octets, and words. Null: they are elsewhere.
alter table notification_scopes add column reach_words bytea;

-- The reach of its done blocks.
alter table chunks add column reach_words bytea;
-- A holder was lost: devices of blocks that are not done may have the message. Null: none was.
alter table chunks add column is_doubted boolean;
alter table retries add column is_doubted boolean;
-- The device is in the reach. Null: it is not.
alter table retries add column is_reached boolean;

-- Where devices are that compaction has moved since: a reach has their earlier ordinals.
create table moved_ordinals (
  app_id integer not null,
  platform_id smallint not null,
  from_ordinal integer not null,
  -- The newest place, also of a device that has moved again.
  to_ordinal integer not null,
  moved_at timestamptz not null default now(),
  primary key (app_id, platform_id, from_ordinal)
);
create index moved_ordinals_by_place on moved_ordinals (app_id, platform_id, to_ordinal);
create index moved_ordinals_by_age on moved_ordinals (moved_at);

create function note_moved_ordinal() returns trigger language plpgsql as $$
begin
  insert into moved_ordinals as m (app_id, platform_id, from_ordinal, to_ordinal)
  select app_id, platform_id, from_ordinal, new.ordinal from moved_ordinals
  where app_id = old.app_id and platform_id = old.platform_id and to_ordinal = old.ordinal
  union all
  select old.app_id, old.platform_id, old.ordinal, new.ordinal
  on conflict (app_id, platform_id, from_ordinal) do update set to_ordinal = excluded.to_ordinal;
  return null;
end
$$;
create trigger devices_moved after update of ordinal on devices
  for each row when (old.ordinal <> new.ordinal) execute function note_moved_ordinal();

-- One row, or none: jobs that ended until then, in the order of their ends and ids, have no reach any more.
create table reach_removal (
  only_row boolean primary key default true check (only_row),
  ended_at timestamptz not null default '-infinity',
  notification_id uuid not null default '00000000-0000-0000-0000-000000000000'
);
`;
