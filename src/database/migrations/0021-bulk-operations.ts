/** Changes of the tags of many devices, carried out in the background (decision 52). */

export const name = '0021-bulk-operations';

export const sql = `
create table bulk_operations (
  -- In the order in which a client's were accepted: the insert holds the client's lock.
  id integer primary key generated always as identity,
  client_id integer not null references clients on delete cascade,
  -- Who asked for it.
  user_name text not null,
  action text not null,
  subscribe_tag_ids integer[] not null,
  unsubscribe_tag_ids integer[] not null,
  -- Devices of a list: their app, platform and keys. The keys go with the end.
  app_id integer,
  platform_id smallint,
  device_keys uuid[],
  -- Members of a tag, in these apps; null: in all.
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
  -- Its turn comes at this time: clients take turns, and one that failed waits.
  due_at timestamptz not null default now()
);
create index bulk_operations_of_client on bulk_operations (client_id, id);
create index bulk_operations_open on bulk_operations (client_id, id) where ended_at is null;
create index bulk_operations_ended on bulk_operations (ended_at) where ended_at is not null;
`;
