/**
 * What existing clients keep with an app; the apps that were deleted, whose devices and jobs are
 * still to be erased, and the clients.
 */

export const name = '0018-apps';

export const sql = `
-- What a caller keeps with an app on a platform. A row apart, for app_platforms is written by registrations.
create table app_parameters (
  app_id integer not null,
  platform_id smallint not null,
  -- json, not jsonb: it is returned as it was given.
  parameters json not null,
  primary key (app_id, platform_id)
);

-- Apps that are gone for everybody: their rows in apps, app_platforms and credentials are deleted. Nodes of the version before
-- find nothing of them either. The row goes with the last of their data.
create table app_deletions (
  app_id integer primary key,
  client_id integer not null references clients,
  name text not null,
  platform_ids smallint[] not null,
  deleted_at timestamptz not null default now()
);
create index app_deletions_of_client on app_deletions (client_id, app_id);

-- The client is disabled and has no credentials. The row goes with the last of its data.
alter table clients add column deleted_at timestamptz;
`;
