/** What has become of single devices: failed sends and removed tokens, for a while. */

export const name = '0026-device-events';

export const sql = `
-- Rows are written only where something went wrong. They outlive the device, so that a look-up can tell why it is gone.
create table device_events (
  -- As in devices: first 128 bits of SHA-256(device_id).
  device_key uuid not null,
  app_id integer not null,
  platform_id smallint not null,
  -- failed: a send. removed: the device, by what its provider said. replaced: its token, by another one.
  kind text not null,
  -- Null: no send was the cause.
  notification_id uuid,
  at timestamptz not null default now(),
  reason text not null
);
create unique index device_events_of_device on device_events (device_key, app_id, platform_id, kind, notification_id)
  nulls not distinct;
-- For the removal of old ones, and of those that are too many.
create index device_events_of_app on device_events (app_id, platform_id, at);

-- How many of its failed sends are in that table.
alter table notification_scopes add column noted_failures integer not null default 0;
`;
