/** Policies of clients, and the places that caps give to devices (decision 78). */

export const name = '0056-caps';

export const sql = `
-- Categories and their caps, as domain/policies.ts has them. Null: the client has none, and nothing is withheld.
alter table clients add column policies jsonb;
-- Nodes remember whether there are any with the client's callers.
create trigger client_policies_changed after update of policies on clients
  for each statement execute function raise_access_revision();

-- The category of the push. Null: the client had no policies when it was accepted.
alter table notifications add column category text;
-- What its devices are held to and counted for, as it was when the push was accepted. Null: it takes no places.
alter table notifications add column caps jsonb;

-- Devices that were left out by a policy, a part of total. Null: none.
alter table notification_scopes add column withheld bigint;

-- The places that a job has taken in a group of devices, as words (push/worker/chunk/reach.ts).
-- No foreign key: they count as long as the windows of caps, also when the job is deleted.
create table cap_places (
  app_id integer not null,
  platform_id smallint not null,
  group_number integer not null,
  notification_id uuid not null,
  category text not null,
  -- Written before a provider is asked: who may have the message, or may get it.
  taken bytea not null,
  -- Of those, who surely does not have it, and will not get it. Null: nobody.
  returned bytea,
  -- Who was left out. Null: nobody.
  withheld bytea,
  -- When places were last taken, or outcomes were last recorded.
  last_at timestamptz not null default clock_timestamp(),
  primary key (app_id, platform_id, group_number, notification_id)
);
create index cap_places_by_age on cap_places (last_at);
`;
