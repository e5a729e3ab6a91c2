/** Devices that the members of a client send trials to (push/routes/test-devices.ts). */

export const name = '0043-test-devices';

export const sql = `
-- They go with their app, and with its platform. A device need not be registered.
create table test_devices (
  id integer primary key generated always as identity,
  client_id integer not null references clients on delete cascade,
  app_id integer not null,
  platform_id smallint not null,
  device_key uuid not null,
  device_id text not null,
  name text not null,
  created_at timestamptz not null default now(),
  unique (app_id, platform_id, device_key),
  foreign key (app_id, platform_id) references app_platforms on delete cascade
);
create index test_devices_client on test_devices (client_id);
`;
