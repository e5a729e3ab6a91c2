/**
 * An access revision, which every node compares with that of its cached credentials (decision 43);
 * and further keys of clients.
 */

export const name = '0013-access';

export const sql = `
-- One row. Another revision whenever a credential or key that worked may work no longer.
create table access_revision (
  only_row boolean primary key default true check (only_row),
  revision uuid not null default gen_random_uuid()
);
insert into access_revision default values;

create table client_keys (
  id integer generated always as identity primary key,
  client_id integer not null references clients,
  name text not null,
  -- Whose jobs those of the key are.
  username text not null unique,
  token_hash bytea not null unique,
  -- Never shown: it is there to be hashed anew under another SECRET_KEY.
  token_sealed bytea not null,
  -- Of SECRET_KEY.
  key_id text not null,
  scopes text[] not null,
  -- Null: no limit.
  tag_ids integer[],
  group_ids integer[],
  app_ids integer[],
  max_devices integer,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz
);
create index client_keys_of_client on client_keys (client_id);

-- By triggers, so that what a node of the version before takes away, or an operator by hand, is refused as soon.
create function raise_access_revision() returns trigger language plpgsql as $$
begin
  insert into access_revision default values on conflict (only_row) do update set revision = excluded.revision;
  return null;
end
$$;
create trigger credentials_taken_away after update of expires_at, token_hash, password_hash or delete on credentials
  for each statement execute function raise_access_revision();
create trigger keys_taken_away after update of expires_at, token_hash, scopes, tag_ids, group_ids, app_ids, max_devices or delete
  on client_keys for each statement execute function raise_access_revision();
create trigger clients_disabled after update of disabled_at on clients
  for each statement execute function raise_access_revision();
`;
