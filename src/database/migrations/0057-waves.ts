/** Push jobs with several moments: a wave for each of them (decision 79). */

export const name = '0057-waves';

export const sql = `
-- The time that the clocks of its devices are to show. Null: the job has one moment, send_at.
alter table notifications add column send_at_local text;
-- Devices whose time had passed when it was accepted get it at once. Null: they do not.
alter table notifications add column sends_late boolean;
-- When the planner is to look at it next. Until it is null, open_chunks has one more: the waves to come.
alter table notifications add column next_wave_at timestamptz;
create index notifications_next_wave on notifications (next_wave_at) where next_wave_at is not null;

-- One row for each moment of a job.
create table push_waves (
  notification_id uuid not null references notifications on delete cascade,
  at timestamptz not null,
  -- Devices with one of these time zones are in it.
  zones text[] not null,
  -- Devices without a time zone are in it.
  has_others boolean not null,
  -- It had passed when the job was accepted: nothing is sent.
  is_skipped boolean not null,
  primary key (notification_id, at)
);

-- A wave that was planned for an (app, platform).
create table push_wave_parts (
  notification_id uuid not null references notifications on delete cascade,
  at timestamptz not null,
  app_id integer not null,
  platform_id smallint not null,
  -- The devices of the waves before it.
  total_before bigint not null,
  primary key (notification_id, at, app_id, platform_id)
);

-- The wave that it belongs to. Null: its job has one moment.
alter table chunks add column wave_at timestamptz;
`;
