-- The tables of Tagcast, as a new database gets them (migrate.ts). Grouped by what they are about:
--
--   The schema itself · Revisions of access · Clients · Apps · Provider credentials · Credentials and keys ·
--   Accounts · Tags · Devices · Bulk operations · Notifications · The ledger · Statistics · Webhooks ·
--   The audit log · Nodes · Probes and marks
--
-- A statement in this file is never edited: databases that it has made would not follow. A change is a new file in
-- migrations/ (docs/decisions/0030-migrations-for-rolling-upgrades.md). Comments may change.
--
-- It runs on PostgreSQL 15 or later and on PGlite, in one transaction, and needs no extension. docs/internals/glossary.md has the terms.
--
-- A fillfactor below 100 leaves room in each page for new versions of its rows: rows that are updated often stay in their page,
-- and their indexes need no new entries.


-- The schema itself ---------------------------------------------------------------------------------------------------

-- What has been applied to this database: this file, and each later migration.
create table migrations (
  name text primary key,
  applied_at timestamptz not null default now(),
  -- The newest migration that a node must know to work on this database. Null: nodes of the version before can go on.
  needs text
);


-- Revisions of access -------------------------------------------------------------------------------------------------

-- Nodes remember credentials and sessions, and compare a revision to learn that what they remember may be wrong (decision 43).
-- Triggers raise it, so that it also changes when an operator changes a row by hand.

-- One row. The revision is another one as soon as a credential or key that worked may work no longer, or a client's limits change.
create table access_revision (
  only_row boolean primary key default true check (only_row),
  revision uuid not null default gen_random_uuid()
);
insert into access_revision default values;

-- One row. The revision is another one as soon as a session that worked may work no longer, or a member has another role. It is
-- separate from that of access, so that people who sign in and out make no node look up its credentials again (decision 43).
create table session_revision (
  only_row boolean primary key default true check (only_row),
  revision uuid not null default gen_random_uuid()
);
insert into session_revision default values;

create function raise_access_revision() returns trigger language plpgsql as $$
begin
  insert into access_revision default values on conflict (only_row) do update set revision = excluded.revision;
  return null;
end
$$;

-- Nodes that do not compare the revision of sessions (nodes.reads_session_revision) need another revision of access. A node that
-- others call dead may still answer for a while. The revision of access comes first: two transactions that change both take the
-- rows in the same order, and do not wait for each other in a circle.
create function new_session_revision() returns void language plpgsql as $$
begin
  if exists (
    select from nodes
    where not reads_session_revision and (died_at is null or died_at > now() - interval '1 minute')
  ) then
    insert into access_revision default values on conflict (only_row) do update set revision = excluded.revision;
  end if;
  insert into session_revision default values on conflict (only_row) do update set revision = excluded.revision;
end
$$;

create function raise_session_revision() returns trigger language plpgsql as $$
begin
  perform new_session_revision();
  return null;
end
$$;

-- For deleted sessions. Most are deleted because they have ended already; only one that would have worked on counts.
create function end_sessions() returns trigger language plpgsql as $$
begin
  if exists (select from ended where ends_at > now()) then
    perform new_session_revision();
  end if;
  return null;
end
$$;


-- Clients -------------------------------------------------------------------------------------------------------------

-- A client is a tenant. It owns apps, tags, groups and push jobs.
create table clients (
  id integer generated always as identity primary key,
  slug text not null unique check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name text not null,
  -- Raised in the transaction of every change to the client's tags, groups and apps. Caches of them compare it.
  catalogue_version bigint not null default 0,
  disabled_at timestamptz,
  created_at timestamptz not null default now(),
  -- How many ids of tags and groups the client has ever used: all clients share object_ids, which ends at two thousand million
  -- (database/object-ids.ts).
  object_ids_drawn integer not null default 0,
  -- Set: the client is disabled and has no credentials. The row is deleted with the last of its data.
  deleted_at timestamptz,
  -- Limits that the operator has set, by their names (domain/client-limits.ts). Null: all have their defaults (decision 53).
  limits jsonb
);
create trigger clients_disabled after update of disabled_at on clients
  for each statement execute function raise_access_revision();
-- Nodes remember the limits with the client's callers.
create trigger client_limits_changed after update of limits on clients
  for each statement execute function raise_access_revision();

-- Apps, tags and groups share one sequence, so that an id of one is never an id of another.
create sequence object_ids as integer;


-- Apps ----------------------------------------------------------------------------------------------------------------

create table apps (
  id integer primary key default nextval('object_ids'),
  client_id integer not null references clients,
  name text not null,
  created_at timestamptz not null default now()
);
create index apps_of_client on apps (client_id);

-- An app on a platform, and its provider credential. Registrations write this row when they reserve ordinals, so data that others
-- lock or change has tables of its own.
create table app_platforms (
  app_id integer not null references apps,
  platform_id smallint not null,
  -- Ordinals below this one are used up for ever: never given to another device, never renumbered.
  next_ordinal integer not null default 0,
  -- The provider credential as JSON, encrypted (access/secrets.ts) with the key that is named beside it.
  credential_sealed bytea,
  credential_key_id text,
  credential_updated_at timestamptz,
  -- Raised by every new credential: what is known of one must not be said of its successor.
  credential_version integer not null default 0,
  -- When the credential ends, if the operator has said so.
  credential_expires_at timestamptz,
  -- The credential before this one, of the same account. It is used when the provider refuses the new one.
  previous_sealed bytea,
  previous_key_id text,
  previous_until timestamptz,
  -- Set: the provider has refused the new credential while it still accepted the previous one.
  refused_reason text,
  refused_at timestamptz,
  -- A registration that changes nothing is written all the same while the device's registered_at is not later than this: an import
  -- compares with that time.
  repetitions_written_from timestamptz,
  -- Whether app_templates has a row. It is here because every push reads this table anyway.
  has_template boolean not null default false,
  primary key (app_id, platform_id)
);

-- Parameters that a caller keeps with an app on a platform.
create table app_parameters (
  app_id integer not null,
  platform_id smallint not null,
  -- json, not jsonb: it is returned as it was given.
  parameters json not null,
  primary key (app_id, platform_id)
);

-- The template of an app on a platform, which turns the payload of a push into what goes there (decision 59).
create table app_templates (
  app_id integer not null,
  platform_id smallint not null,
  expression text not null,
  updated_at timestamptz not null default now(),
  primary key (app_id, platform_id),
  foreign key (app_id, platform_id) references app_platforms on delete cascade
);

-- Apps that were deleted, and whose devices and jobs are still to be erased. Their rows in apps, app_platforms and credentials went
-- with the request, so that nothing finds them (decision 50). A row is deleted with the last of its app's data.
create table app_deletions (
  app_id integer primary key,
  client_id integer not null references clients,
  name text not null,
  platform_ids smallint[] not null,
  deleted_at timestamptz not null default now()
);
create index app_deletions_of_client on app_deletions (client_id, app_id);


-- Provider credentials ------------------------------------------------------------------------------------------------

-- What sends and checks have shown of a provider credential.
create table credential_health (
  app_id integer not null,
  platform_id smallint not null,
  -- The last time that a send was accepted, and the last fault of a send.
  accepted_at timestamptz,
  fault text,
  fault_at timestamptz,
  -- The last time that the engine asked the provider in order to check the credential. check_ok null: it could not be asked.
  checked_at timestamptz,
  check_ok boolean,
  check_note text,
  -- The last warning that the credential will end: how many days before, and of which credential_version.
  warned_days smallint,
  warned_version integer,
  primary key (app_id, platform_id)
) with (fillfactor = 50);

-- One token for each identity that signs (a team's key, a service account), for all nodes and across restarts (decision 24).
create table provider_tokens (
  -- Digest of the identity. It does not depend on SECRET_KEY: under another key the token cannot be read, but when it was made can.
  identity text primary key,
  -- Names this token, so that a refusal of it is not taken for one of its successor.
  value_id uuid,
  value_sealed bytea,
  value_key_id text,
  minted_at timestamptz,
  refresh_at timestamptz,
  expires_at timestamptz,
  -- Who is making the next token, and until when: after a crash another node may make it.
  minting_id uuid,
  minting_until timestamptz,
  -- The provider has had too many tokens. None is made before this time.
  frozen_until timestamptz,
  -- Why the last attempt failed, and when to try again.
  failure text,
  failure_is_final boolean,
  retry_at timestamptz,
  touched_at timestamptz not null default now(),
  -- The node that makes the token, under the minting_id that stands here. Under another minting_id node_id says nothing.
  node_id integer,
  node_minting_id uuid
) with (fillfactor = 50);
create index provider_tokens_by_age on provider_tokens (touched_at);

-- One token bucket for each project of a provider, for all nodes (push/sql/draw-permits.ts, decision 25).
create table provider_quotas (
  key text primary key,
  permits double precision not null,
  -- How far the rate has risen since the project was idle, in milliseconds of use.
  ramp_ms double precision not null default 0,
  refilled_at timestamptz not null default clock_timestamp(),
  -- The provider has said when to come back.
  paused_until timestamptz
) with (fillfactor = 50);


-- Credentials and keys ------------------------------------------------------------------------------------------------

-- The credentials that a client and its apps begin with: an API user's has an app, a super user's has none.
create table credentials (
  id integer generated always as identity primary key,
  client_id integer not null references clients,
  app_id integer references apps,
  username text not null unique,
  token_hash bytea not null unique,
  token_sealed bytea not null,
  password_hash bytea not null,
  password_sealed bytea not null,
  -- The SECRET_KEY of the hashes and sealed values.
  key_id text not null,
  created_at timestamptz not null default now(),
  -- Set when the credential was rotated: it works until then.
  expires_at timestamptz
);
create index credentials_of_client on credentials (client_id, app_id);
create trigger credentials_taken_away after update of expires_at, token_hash, password_hash or delete on credentials
  for each statement execute function raise_access_revision();

-- Further keys of a client, with scopes and limits.
create table client_keys (
  id integer generated always as identity primary key,
  client_id integer not null references clients,
  name text not null,
  -- The name under which the key's jobs are listed.
  username text not null unique,
  token_hash bytea not null unique,
  -- Never shown. It is kept to be hashed again under another SECRET_KEY.
  token_sealed bytea not null,
  -- The SECRET_KEY of the hash and the sealed value.
  key_id text not null,
  scopes text[] not null,
  -- The limits of the key. Null: no limit.
  tag_ids integer[],
  group_ids integer[],
  app_ids integer[],
  max_devices integer,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz
);
create index client_keys_of_client on client_keys (client_id);
create trigger keys_taken_away after update of expires_at, token_hash, scopes, tag_ids, group_ids, app_ids, max_devices or delete
  on client_keys for each statement execute function raise_access_revision();


-- Accounts ------------------------------------------------------------------------------------------------------------

-- People who use the console (decision 55).
create table accounts (
  id integer generated always as identity primary key,
  -- In lower case.
  email text not null unique,
  -- Null: no password was set yet, so nobody can sign in with one.
  password_hash text,
  is_operator boolean not null default false,
  created_at timestamptz not null default now(),
  last_signed_in_at timestamptz
);
create trigger operators_changed after update of is_operator on accounts
  for each statement execute function raise_session_revision();

create table memberships (
  client_id integer not null references clients on delete cascade,
  account_id integer not null references accounts on delete cascade,
  role text not null,
  added_at timestamptz not null default now(),
  primary key (client_id, account_id)
);
create index memberships_of_account on memberships (account_id);
create trigger memberships_changed after insert or update of role or delete on memberships
  for each statement execute function raise_session_revision();

create table sessions (
  -- Keyed by SECRET_KEY.
  token_hash bytea primary key,
  account_id integer not null references accounts on delete cascade,
  created_at timestamptz not null default now(),
  -- Exact to a minute.
  last_used_at timestamptz not null default now(),
  -- A session that is not used ends earlier.
  ends_at timestamptz not null
);
create index sessions_of_account on sessions (account_id, created_at);
create trigger sessions_ended after delete on sessions referencing old table as ended
  for each statement execute function end_sessions();

create table one_time_links (
  token_hash bytea primary key,
  -- invitation: joins a client, under a role. sign-up: makes a client. reset: sets an account's password.
  -- sign-in: signs in to an account, without a password.
  kind text not null,
  -- The client of an invitation. For a reset, the client whose owner asked for it; null: the operator asked.
  client_id integer references clients on delete cascade,
  role text,
  account_id integer references accounts on delete cascade,
  created_at timestamptz not null default now(),
  ends_at timestamptz not null
);
create index one_time_links_of_client on one_time_links (client_id);
create index one_time_links_of_account on one_time_links (account_id);


-- Tags ----------------------------------------------------------------------------------------------------------------

create table tag_groups (
  id integer primary key default nextval('object_ids'),
  client_id integer not null references clients,
  parent_id integer references tag_groups,
  name text not null,
  -- The id that the client's own system gave it.
  source_id text,
  created_at timestamptz not null default now(),
  unique (client_id, source_id)
);
create index tag_groups_of_parent on tag_groups (parent_id);
-- For lists by id, a page at a time.
create index tag_groups_of_client_by_id on tag_groups (client_id, id);

create table tags (
  id integer primary key default nextval('object_ids'),
  client_id integer not null references clients,
  group_id integer references tag_groups,
  name text not null,
  -- The id that the client's own system gave it.
  source_id text,
  optional_parameters jsonb,
  -- Epoch milliseconds, as the API has them.
  expires_at_ms bigint,
  -- Null: the tag is connected to every app of the client.
  app_ids integer[],
  created_at timestamptz not null default now(),
  -- A deleted tag is gone for every caller at once. Housekeeping takes it off devices, and then deletes the row.
  deleted_at timestamptz
);
create unique index tags_by_source_id on tags (client_id, source_id) where deleted_at is null;
create index tags_of_client on tags (client_id);
-- For lists by id, a page at a time.
create index tags_of_client_by_id on tags (client_id, id) where deleted_at is null;
create index tags_of_group on tags (group_id) where group_id is not null;
create index tags_deleted on tags (deleted_at) where deleted_at is not null;
-- Looking for tags that have expired reads only tags that can.
create index tags_expiring on tags (expires_at_ms) where expires_at_ms is not null and deleted_at is null;


-- Devices -------------------------------------------------------------------------------------------------------------

-- All that is known of a device is in its row (decision 42). There is no foreign key to app_platforms: whoever gives out an ordinal
-- has updated that row, and the check cost 10 % of a registration (decision 10).
create table devices (
  app_id integer not null,
  platform_id smallint not null,
  ordinal integer not null,
  -- The first 128 bits of SHA-256(device_id): an entry of a B-tree cannot hold 16 KiB of text (decision 2).
  device_key uuid not null,
  device_id text not null,
  app_version text,
  -- The last reg or set that was written. A 410 of APNs counts only when its timestamp is later.
  registered_at timestamptz not null,
  -- The last ureg. Retention counts from here.
  unsubscribed_at timestamptz,
  -- How many sends at different times refused the token, since a send that did not or a registration; and the last of them.
  refusals smallint not null default 0,
  refused_at timestamptz,
  -- Where APNs accepted the token, when that is not the environment that was asked first. The constraint has the name of the table
  -- that it was made with, as in databases of earlier versions.
  apns_environment text
    constraint devices_with_tags_apns_environment_check check (apns_environment in ('production', 'sandbox')),
  -- Sorted, without repetitions. It may still name tags that were deleted or disconnected a while ago.
  tag_ids integer[] not null default '{}',
  primary key (app_id, platform_id, ordinal),
  -- The key comes first: without statistics a planner would take any index that begins with app and platform for a look-up by
  -- ordinal too, and read all devices of the app for each. devices/sql/changed-since.ts finds this constraint by a part of its
  -- name.
  constraint devices_device_key unique (device_key, app_id, platform_id)
) with (fillfactor = 85);

-- 8,192 consecutive ordinals. Every transaction that changes a device of the group raises the version.
create table device_groups (
  app_id integer not null,
  platform_id smallint not null,
  group_number integer not null,
  version bigint not null,
  -- The version at which no device was in the group. It says nothing once the version is another one.
  vacant_version bigint,
  -- Raised when a row of device_group_tags is removed: what a process remembers of those rows is valid for one epoch.
  tags_epoch integer not null default 0,
  primary key (app_id, platform_id, group_number)
) with (fillfactor = 50);

-- Which groups may have a device with a tag: never fewer than do. A row is added and removed under the lock of the group's row. An
-- index by tag alone would cost every registration; statements that ask by tag alone go through the apps of the tag's client.
create table device_group_tags (
  app_id integer not null,
  platform_id smallint not null,
  tag_id integer not null,
  group_number integer not null,
  primary key (app_id, platform_id, tag_id, group_number)
);

-- What went wrong with single devices, kept for a while. A row outlives its device, so that a look-up can tell why it is gone.
create table device_events (
  -- As in devices.
  device_key uuid not null,
  app_id integer not null,
  platform_id smallint not null,
  -- failed: a send failed. removed: the device was deleted, because of what its provider said. replaced: another token took its
  -- place.
  kind text not null,
  -- Null: no send was the cause.
  notification_id uuid,
  at timestamptz not null default now(),
  reason text not null
);
create unique index device_events_of_device on device_events (device_key, app_id, platform_id, kind, notification_id)
  nulls not distinct;
-- For the removal of old events, and of those that are too many.
create index device_events_of_app on device_events (app_id, platform_id, at);


-- Bulk operations -----------------------------------------------------------------------------------------------------

-- Changes of the tags of many devices, carried out in the background (decision 52).
create table bulk_operations (
  -- In the order in which a client's operations were accepted: the insert holds the client's lock.
  id integer primary key generated always as identity,
  client_id integer not null references clients on delete cascade,
  -- Who asked for it.
  user_name text not null,
  action text not null,
  subscribe_tag_ids integer[] not null,
  unsubscribe_tag_ids integer[] not null,
  -- The devices of a list: their app, platform and keys. The keys are deleted at the end of the operation.
  app_id integer,
  platform_id smallint,
  device_keys uuid[],
  -- Or the members of a tag, in these apps; null: in all apps.
  member_of integer,
  app_ids integer[],
  -- The last member that was looked at.
  at_app_id integer not null default 0,
  at_platform_id smallint not null default 0,
  at_ordinal integer not null default -1,
  total integer not null,
  changed integer not null default 0,
  unchanged integer not null default 0,
  unknown integer not null default 0,
  "full" integer not null default 0,
  refused integer not null default 0,
  accepted_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at timestamptz,
  is_cancelled boolean not null default false,
  -- It is carried on from this time: clients take turns, and an operation that failed waits.
  due_at timestamptz not null default now()
);
create index bulk_operations_of_client on bulk_operations (client_id, id);
create index bulk_operations_open on bulk_operations (client_id, id) where ended_at is null;
create index bulk_operations_ended on bulk_operations (ended_at) where ended_at is not null;


-- Notifications -------------------------------------------------------------------------------------------------------

-- A push that was accepted: its job id is the id.
create table notifications (
  id uuid primary key,
  client_id integer not null references clients,
  user_name text not null,
  state text not null check (state in ('SCHEDULED','QUEUED','RUNNING','PAUSED','FINISHED','FAILED','CANCELLED')),
  -- The audience: devices with any of these tags, all of those, and none of the others.
  any_tag_ids integer[] not null,
  all_tag_ids integer[] not null,
  none_tag_ids integer[] not null,
  -- An expression of tags as it was given, and what it asks of a device besides the three lists (decision 49).
  audience_expression text,
  audience_condition json,
  -- json, not jsonb: the order of its keys is the caller's.
  payload json not null,
  -- What the publisher gave, and what templates made of it by (app, platform). Null: no template concerns it.
  templated json,
  accepted_at timestamptz not null default now(),
  send_at timestamptz not null default now(),
  expires_at timestamptz,
  first_send_at timestamptz,
  last_send_at timestamptz,
  -- CANCELLED without finished_at: what is left is still being counted.
  finished_at timestamptz,
  open_chunks integer not null default 0,
  open_retries integer not null default 0,
  -- A send whose end nobody knows is never sent again (decision 23).
  at_most_once boolean not null default false,
  -- Written with the end, when that transaction put the notification into ended_notifications. Notifications that ended otherwise
  -- are put there later.
  is_end_listed boolean not null default false,
  -- It overtakes other sends of its client (decision 47).
  urgent boolean not null default false,
  -- How many devices a second it is sent to at most. Null: as many as possible (decision 51).
  rate_per_second integer
) with (fillfactor = 70);
create index notifications_unfinished on notifications (send_at) where finished_at is null;
-- Two indexes: one finds notifications that are due, one those under way. Neither search reads past the other kind, however many
-- wait (decision 44). Urgent ones have lines of their own, so the first index knows urgency.
create index notifications_due_by_urgency on notifications (client_id, state, urgent, send_at)
  where finished_at is null and state in ('SCHEDULED', 'QUEUED');
create index notifications_under_way on notifications (id)
  where finished_at is null and state in ('RUNNING', 'PAUSED', 'CANCELLED');
-- Counting the jobs of a client that are under way reads none of other clients.
create index notifications_under_way_of_client on notifications (client_id, id)
  where finished_at is null and state in ('RUNNING', 'PAUSED', 'CANCELLED');
create index notifications_of_client on notifications (client_id, id);
create index notifications_of_tag on notifications using gin (any_tag_ids);
-- Retention finds old notifications by their end (decision 31).
create index notifications_finished on notifications (finished_at) where finished_at is not null;
create index notifications_unlisted on notifications (id) where finished_at is not null and not is_end_listed;

-- A notification's part for one app on one platform, and its counts.
create table notification_scopes (
  notification_id uuid not null references notifications on delete cascade,
  app_id integer not null,
  platform_id smallint not null,
  -- Devices with smaller ordinals are in the audience. It is read when the send is planned.
  ordinal_end integer not null default 0,
  simulated boolean not null,
  -- The fault of the credential or of the message that stopped the scope.
  fault text,
  total bigint not null default 0,
  delivered bigint not null default 0,
  failed bigint not null default 0,
  skipped bigint not null default 0,
  expired bigint not null default 0,
  cancelled bigint not null default 0,
  -- Sends whose end nobody knows and that were due to be sent again.
  uncertain bigint not null default 0,
  -- Devices that the provider called dead, and devices that it refused and that may belong to somebody else.
  gone bigint not null default 0,
  refused bigint not null default 0,
  -- Null: condemned_devices has no row. pending: until the gate opens. held: the gate closed. released, discarded: the operator or
  -- publisher decided (decision 22).
  deletions text check (deletions in ('pending', 'held', 'released', 'discarded')),
  held_deletions bigint not null default 0,
  held_at timestamptz,
  -- What the parts that were given back wait for, and until when. Shown in the status of the job.
  waiting_for text,
  waiting_until timestamptz,
  -- How many of its failed sends are in device_events.
  noted_failures integer not null default 0,
  -- How many chunks were planned: the total is estimated from those that were looked at. Null: not planned yet.
  planned_chunks integer,
  primary key (notification_id, app_id, platform_id)
) with (fillfactor = 50);
create index notification_scopes_deletions on notification_scopes (notification_id) where deletions is not null;

create table failure_reasons (
  notification_id uuid not null references notifications on delete cascade,
  app_id integer not null,
  platform_id smallint not null,
  reason text not null,
  count bigint not null,
  primary key (notification_id, app_id, platform_id, reason)
) with (fillfactor = 50);

-- A row for each notification that was ever held to a rate. The row of the notification is wide, and is locked while progress is
-- recorded; this one is written ten times a second.
create table notification_paces (
  notification_id uuid primary key references notifications on delete cascade,
  -- The sends until this time are taken. The next ones begin then.
  drawn_until timestamptz not null
) with (fillfactor = 50);

create table idempotency_keys (
  client_id integer not null references clients,
  key text not null,
  body_hash bytea not null,
  notification_id uuid not null references notifications on delete cascade,
  created_at timestamptz not null default now(),
  primary key (client_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
-- The foreign key looks for it whenever a notification is deleted.
create index idempotency_keys_of_notification on idempotency_keys (notification_id);


-- The ledger ----------------------------------------------------------------------------------------------------------

-- A row for each group of devices that is still to be sent to. It is deleted when its 64 blocks are done (decision 5).
create table chunks (
  notification_id uuid not null references notifications on delete cascade,
  app_id integer not null,
  platform_id smallint not null,
  group_number integer not null,
  -- Bit n: block n is done and counted. All 64 bits are used, so it is negative when bit 63 is set.
  done_blocks bigint not null default 0,
  -- Raised by every claim. Progress under an older epoch is refused.
  epoch integer not null default 0,
  available_at timestamptz not null default now(),
  lease_until timestamptz,
  -- Blocks that may have been sent in part. Written before their first send, and only for at-most-once notifications.
  started_blocks bigint not null default 0,
  -- The node that holds it, and the epoch of that claim. Under another epoch node_id says nothing. Null: only the lease counts
  -- (decision 36).
  node_id integer,
  node_epoch integer,
  -- Claims since some progress was recorded or the chunk was given back in order, the present claim included (decision 39).
  claims_without_progress smallint not null default 0,
  -- Why the last of them failed. Null: the node that held it was lost.
  last_failure text,
  -- Set: nothing of it is sent until an operator releases it. available_at is 'infinity' then.
  parked_at timestamptz,
  -- How many of its devices were counted as failed for that.
  parked_devices integer,
  -- How many devices its open blocks have, as its holder found. Null: nobody has looked yet.
  open_devices integer,
  -- What has become of the devices of blocks that are begun and not done: the epoch of the claim that says so (by a later claim
  -- these devices are counted again), then total, delivered, failed, skipped, expired, cancelled. It is shown, and never added to
  -- counts. Null: the send is held to no rate, or nobody has claimed it (decision 51).
  begun_counts integer[],
  primary key (notification_id, app_id, platform_id, group_number)
) with (fillfactor = 50);
create index chunks_parked on chunks (notification_id) where parked_at is not null;

-- Devices to which a send may succeed later. Columns with the names of those of chunks mean the same.
create table retries (
  notification_id uuid not null references notifications on delete cascade,
  app_id integer not null,
  platform_id smallint not null,
  ordinal integer not null,
  attempts smallint not null,
  reason text not null,
  -- 'infinity' when it is parked.
  due_at timestamptz not null,
  epoch integer not null default 0,
  lease_until timestamptz,
  node_id integer,
  node_epoch integer,
  claims_without_progress smallint not null default 0,
  last_failure text,
  parked_at timestamptz,
  primary key (notification_id, app_id, platform_id, ordinal)
);
-- Nodes claim work by (notification, app, platform), so that the troubles of one platform do not affect another.
create index retries_due on retries (notification_id, app_id, platform_id, due_at);
create index retries_parked on retries (notification_id) where parked_at is not null;

-- Verdicts of providers on devices. They are written with the outcome that they came with, and carried out, or held, afterwards
-- (decision 22).
create table condemned_devices (
  notification_id uuid not null references notifications on delete cascade,
  app_id integer not null,
  platform_id smallint not null,
  ordinal integer not null,
  -- A device that registered at or after this time is not deleted.
  registered_before timestamptz not null,
  -- The device was refused, which is not dead: it is counted, and only the last of several such verdicts deletes it.
  is_refusal boolean not null,
  primary key (notification_id, app_id, platform_id, ordinal)
);


-- Statistics ----------------------------------------------------------------------------------------------------------

-- Subscribers that a tag gained and lost, by day (decision 48). The difference over all days is how many it has. The tag 0 counts
-- devices that have any tag. The day -infinity has all days that are no longer kept singly. Every writer names app and platform;
-- their defaults are not used.
create table tag_days (
  tag_id integer not null,
  app_id integer not null default 0,
  platform_id smallint not null default 0,
  day date not null,
  -- One writer on one node has a slot of its own, so that writers do not wait for each other's commits.
  slot smallint not null,
  subscribed bigint not null default 0,
  unsubscribed bigint not null default 0,
  primary key (tag_id, app_id, platform_id, day, slot)
) with (fillfactor = 50);

-- The outcomes of the notifications of a tag or an app (both have ids of one sequence), by the UTC day on which they were accepted.
-- The day -infinity has all days that are no longer kept singly.
create table notification_days (
  object_id integer not null,
  day date not null,
  notifications bigint not null,
  delivered bigint not null,
  failed bigint not null,
  last_accepted_at timestamptz not null,
  primary key (object_id, day)
) with (fillfactor = 50);

-- Notifications that have ended and that no day counts yet. A row lives for seconds.
create table ended_notifications (
  notification_id uuid primary key
);


-- Webhooks ------------------------------------------------------------------------------------------------------------

-- Addresses of clients that are told what happens (decision 58).
create table webhooks (
  -- "By default": the id is drawn before the row is written, because the secret is encrypted for this id.
  id integer primary key generated by default as identity,
  client_id integer not null references clients on delete cascade,
  url text not null,
  event_types text[] not null,
  is_enabled boolean not null default true,
  secret_sealed bytea not null,
  secret_key_id text not null,
  -- The secret before this one. Requests are signed with both until then.
  previous_sealed bytea,
  previous_key_id text,
  previous_until timestamptz,
  created_at timestamptz not null default now(),
  -- No request begins before this time: a node has one under way, or the receiver failed and rests.
  not_before timestamptz not null default now(),
  -- Requests that failed in a row.
  failures integer not null default 0,
  -- Events that were deleted without being sent, because too many waited.
  dropped_events bigint not null default 0,
  -- When the receiver answered 410, which turned the webhook off. Null: it has not, or somebody has turned it on since.
  gone_at timestamptz
) with (fillfactor = 50);
create index webhooks_of_client on webhooks (client_id, id);

-- The outbox: events that a webhook is still to be told, each written in the transaction that made it happen. A row is deleted when
-- a delivery takes it. There is no foreign key: a webhook that is deleted in the same moment must not fail that transaction.
-- Housekeeping deletes what a webhook leaves.
create table webhook_events (
  id bigint primary key generated always as identity,
  webhook_id integer not null,
  type text not null,
  at timestamptz not null default now(),
  data json not null
);
create index webhook_events_of_webhook on webhook_events (webhook_id, id);

-- A request with several events, and its attempts.
create table webhook_deliveries (
  -- A UUID of version 7. The receiver gets it as webhook-id.
  id uuid primary key,
  webhook_id integer not null references webhooks on delete cascade,
  created_at timestamptz not null default now(),
  events json not null,
  event_count integer not null,
  -- pending, delivered, or dead: given up.
  state text not null default 'pending',
  attempts integer not null default 0,
  -- When the next attempt is due.
  due_at timestamptz not null default now(),
  last_attempt_at timestamptz,
  -- How the last attempt ended. status null: no answer came. fault null: there was none.
  status integer,
  fault text
);
create index webhook_deliveries_of_webhook on webhook_deliveries (webhook_id, id);
create index webhook_deliveries_due on webhook_deliveries (webhook_id, due_at) where state = 'pending';


-- The audit log -------------------------------------------------------------------------------------------------------

-- Who changed what of a client (decision 54). A row is written in the transaction of the change. After that, only a repetition of
-- the same change updates it.
create table audit_entries (
  -- A UUID of version 7: entries sort by time, and an id does not show how much other clients change.
  id uuid primary key,
  client_id integer not null references clients on delete cascade,
  at timestamptz not null default now(),
  -- credential, key, account, operator or engine.
  actor_kind text not null,
  actor_id integer,
  actor_name text,
  action text not null,
  object_id text,
  object_name text,
  address text,
  request_id text,
  detail json,
  -- How often it was done, from at to last_at. last_at null: once.
  count integer not null default 1,
  last_at timestamptz
);
create index audit_entries_of_client on audit_entries (client_id, id);
-- Finds the entry that a change repeats.
create index audit_entries_of_object on audit_entries (client_id, action, object_id, id);
-- Entries about access have room of their own. audit/sql/access-entries.ts has the same condition.
create index audit_entries_of_access on audit_entries (client_id, id)
  where split_part(action, '.', 1) in ('client', 'credential', 'key', 'member', 'webhook') or action = 'app.delete';


-- Nodes ---------------------------------------------------------------------------------------------------------------

-- Nodes that send. Others claim the parts of a dead node without waiting for its leases (decision 36). A row stands for a node from
-- its start, or from the time after which it was taken for dead, to its end.
create table nodes (
  id integer generated always as identity primary key,
  -- Host and process, for people.
  host text not null,
  pid integer not null,
  seen_at timestamptz not null default now(),
  -- No beat was missed since then.
  beating_since timestamptz not null default now(),
  -- The node has ended, or others take it for dead: for ever. If it goes on, it goes on as another row.
  died_at timestamptz,
  -- Whether the node compares session_revision. Nodes of this version and later do, and write true.
  reads_session_revision boolean not null default false
) with (fillfactor = 50);


-- Probes and marks ----------------------------------------------------------------------------------------------------

-- One row. It tells a tag index that the database has gone back in time (tag-index/groups/lineage.ts).
create table index_lineage (
  only_row boolean primary key default true check (only_row),
  -- The name of this database in the index.
  name text not null,
  -- System identifier and timeline of PostgreSQL, as seen last.
  identity text
);

-- One row, for all nodes. /readyz writes it, to prove that the database takes writes (database/write-probe.ts).
create table write_probe (
  id smallint primary key check (id = 1),
  written_at timestamptz not null
);

-- One row: the newest time that the database's clock has shown. When the clock is set back, waits that were written while it was
-- ahead are shortened once (database/maintenance/set-back-clock.ts).
create table clock_watch (
  id smallint primary key check (id = 1),
  seen_at timestamptz not null
);
