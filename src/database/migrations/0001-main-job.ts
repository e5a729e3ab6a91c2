/**
 * The tables of the main job: tenants, tags, devices with ordinals, notifications and their ledger.
 */

export const name = '0001-main-job';

export const sql = `
-- Tags, groups and apps share one sequence, so that an id of one is never an id of another (facts/upstream.md, section 0).
create sequence object_ids as integer;

create table clients (
  id integer generated always as identity primary key,
  slug text not null unique check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name text not null,
  -- Raised in the transaction of every change to its tags, groups and apps: what every cache of them compares.
  catalogue_version bigint not null default 0,
  disabled_at timestamptz,
  created_at timestamptz not null default now()
);

create table apps (
  id integer primary key default nextval('object_ids'),
  client_id integer not null references clients,
  name text not null,
  created_at timestamptz not null default now()
);
create index apps_of_client on apps (client_id);

create table app_platforms (
  app_id integer not null references apps,
  platform_id smallint not null,
  -- Ordinals below this mark are given out, for ever: never reused, never renumbered.
  next_ordinal integer not null default 0,
  -- The provider's credential: JSON, sealed by access/secrets with the key named beside.
  credential_sealed bytea,
  credential_key_id text,
  credential_updated_at timestamptz,
  primary key (app_id, platform_id)
);

-- Callers of the APIs: an API user has an app, a super user has none.
create table credentials (
  id integer generated always as identity primary key,
  client_id integer not null references clients,
  app_id integer references apps,
  username text not null unique,
  token_hash bytea not null unique,
  token_sealed bytea not null,
  password_hash bytea not null,
  password_sealed bytea not null,
  key_id text not null,
  created_at timestamptz not null default now(),
  -- Set when it was rotated: it works until then.
  expires_at timestamptz
);
create index credentials_of_client on credentials (client_id, app_id);

create table tag_groups (
  id integer primary key default nextval('object_ids'),
  client_id integer not null references clients,
  parent_id integer references tag_groups,
  name text not null,
  source_id text,
  created_at timestamptz not null default now(),
  unique (client_id, source_id)
);
create index tag_groups_of_parent on tag_groups (parent_id);

create table tags (
  id integer primary key default nextval('object_ids'),
  client_id integer not null references clients,
  group_id integer references tag_groups,
  name text not null,
  source_id text,
  optional_parameters jsonb,
  -- Epoch milliseconds, as the interface has it.
  expires_at_ms bigint,
  -- Null: connected to every app of the client.
  app_ids integer[],
  created_at timestamptz not null default now(),
  -- A deleted tag is gone for everybody at once; its subscriptions are purged in the background, and then the row.
  deleted_at timestamptz
);
create unique index tags_by_source_id on tags (client_id, source_id) where deleted_at is null;
create index tags_of_client on tags (client_id);
create index tags_of_group on tags (group_id) where group_id is not null;
create index tags_deleted on tags (deleted_at) where deleted_at is not null;

create table devices (
  app_id integer not null,
  platform_id smallint not null,
  ordinal integer not null,
  -- First 128 bits of SHA-256(device_id): a B-tree entry cannot hold 16 KiB of text.
  device_key uuid not null,
  device_id text not null,
  app_version text,
  -- Of the last reg or set: APNs' 410 counts only when its timestamp is later.
  registered_at timestamptz not null,
  -- Of the last ureg, for retention.
  unsubscribed_at timestamptz,
  primary key (app_id, platform_id, ordinal),
  -- The key first: without statistics a planner takes any index that begins with app and platform for a look-up by
  -- ordinal too, and reads all devices of the app for each.
  unique (device_key, app_id, platform_id)
  -- No foreign key to app_platforms: whoever gives out an ordinal has updated that row, and the check cost 10 % of a registration.
) with (fillfactor = 85);

create table subscriptions (
  app_id integer not null,
  platform_id smallint not null,
  tag_id integer not null,
  ordinal integer not null,
  primary key (app_id, platform_id, tag_id, ordinal)
);
-- The ordinal first, for the same reason: a tag in a range of ordinals is the primary key's.
create index subscriptions_of_device on subscriptions (ordinal, app_id, platform_id);
-- What asks by tag alone walks the apps of the tag's client: a third index would cost every registration.

-- 8,192 consecutive ordinals. The version is raised in every transaction that changes a device or subscription of the group.
create table device_groups (
  app_id integer not null,
  platform_id smallint not null,
  group_number integer not null,
  version bigint not null,
  primary key (app_id, platform_id, group_number)
) with (fillfactor = 50);

-- Subscriptions gained and lost a day. A slot is one writer (a lane), so that lanes do not wait for each other's commit.
create table tag_days (
  tag_id integer not null,
  day date not null,
  slot smallint not null,
  subscribed bigint not null default 0,
  unsubscribed bigint not null default 0,
  primary key (tag_id, day, slot)
) with (fillfactor = 50);

create table notifications (
  id uuid primary key,
  client_id integer not null references clients,
  user_name text not null,
  state text not null check (state in ('SCHEDULED','QUEUED','RUNNING','PAUSED','FINISHED','FAILED','CANCELLED')),
  any_tag_ids integer[] not null,
  all_tag_ids integer[] not null,
  none_tag_ids integer[] not null,
  -- json, not jsonb: the order of its keys is the caller's.
  payload json not null,
  accepted_at timestamptz not null default now(),
  send_at timestamptz not null default now(),
  expires_at timestamptz,
  first_send_at timestamptz,
  last_send_at timestamptz,
  finished_at timestamptz,
  open_chunks integer not null default 0,
  open_retries integer not null default 0
) with (fillfactor = 70);
-- CANCELLED with finished_at null: what is left is still being counted.
create index notifications_unfinished on notifications (send_at) where finished_at is null;
create index notifications_of_client on notifications (client_id, id);
create index notifications_of_tag on notifications using gin (any_tag_ids);

create table notification_scopes (
  notification_id uuid not null references notifications on delete cascade,
  app_id integer not null,
  platform_id smallint not null,
  -- Ordinals below it are in the audience; taken when planned.
  ordinal_end integer not null default 0,
  simulated boolean not null,
  -- The credential's or message's fault that stopped it.
  fault text,
  total bigint not null default 0,
  delivered bigint not null default 0,
  failed bigint not null default 0,
  skipped bigint not null default 0,
  expired bigint not null default 0,
  cancelled bigint not null default 0,
  primary key (notification_id, app_id, platform_id)
) with (fillfactor = 50);

create table failure_reasons (
  notification_id uuid not null references notifications on delete cascade,
  app_id integer not null,
  platform_id smallint not null,
  reason text not null,
  count bigint not null,
  primary key (notification_id, app_id, platform_id, reason)
) with (fillfactor = 50);

-- The ledger: one row per group of devices still to be sent; deleted when its 64 blocks are done.
create table chunks (
  notification_id uuid not null references notifications on delete cascade,
  app_id integer not null,
  platform_id smallint not null,
  group_number integer not null,
  -- Bit n: block n is done and counted. 64 bits, so negative when bit 63 is set.
  done_blocks bigint not null default 0,
  -- Raised by every claim: progress under an older epoch is refused.
  epoch integer not null default 0,
  available_at timestamptz not null default now(),
  lease_until timestamptz,
  primary key (notification_id, app_id, platform_id, group_number)
) with (fillfactor = 50);

-- Devices whose send may succeed later.
create table retries (
  notification_id uuid not null references notifications on delete cascade,
  app_id integer not null,
  platform_id smallint not null,
  ordinal integer not null,
  attempts smallint not null,
  reason text not null,
  due_at timestamptz not null,
  epoch integer not null default 0,
  lease_until timestamptz,
  primary key (notification_id, app_id, platform_id, ordinal)
);
create index retries_due on retries (notification_id, due_at);

create table idempotency_keys (
  client_id integer not null references clients,
  key text not null,
  body_hash bytea not null,
  notification_id uuid not null references notifications on delete cascade,
  created_at timestamptz not null default now(),
  primary key (client_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
`;
