/**
 * Accounts of people who use the console, their sessions, their roles in clients, and one-time
 * links (decision 55).
 */

export const name = '0025-accounts';

export const sql = `
create table accounts (
  id integer generated always as identity primary key,
  -- In lower case.
  email text not null unique,
  -- Null: nobody has set one yet, so nobody can sign in with one.
  password_hash text,
  is_operator boolean not null default false,
  created_at timestamptz not null default now(),
  last_signed_in_at timestamptz
);

create table memberships (
  client_id integer not null references clients on delete cascade,
  account_id integer not null references accounts on delete cascade,
  role text not null,
  added_at timestamptz not null default now(),
  primary key (client_id, account_id)
);
create index memberships_of_account on memberships (account_id);

create table sessions (
  -- Keyed by SECRET_KEY.
  token_hash bytea primary key,
  account_id integer not null references accounts on delete cascade,
  created_at timestamptz not null default now(),
  -- To within a minute.
  last_used_at timestamptz not null default now(),
  -- It ends earlier when it is not used.
  ends_at timestamptz not null
);
create index sessions_of_account on sessions (account_id, created_at);

create table one_time_links (
  token_hash bytea primary key,
  -- invitation: to a client, under a role. sign-up: to make a client. reset: of an account's password.
  -- sign-in: to an account, without a password.
  kind text not null,
  -- Of an invitation; of a reset, the client whose owner asked for it, null: the operator did.
  client_id integer references clients on delete cascade,
  role text,
  account_id integer references accounts on delete cascade,
  created_at timestamptz not null default now(),
  ends_at timestamptz not null
);
create index one_time_links_of_client on one_time_links (client_id);
create index one_time_links_of_account on one_time_links (account_id);

-- Of sessions only those that would have worked on: many are deleted because they have ended.
create function end_sessions() returns trigger language plpgsql as $$
begin
  if exists (select from ended where ends_at > now()) then
    insert into access_revision default values on conflict (only_row) do update set revision = excluded.revision;
  end if;
  return null;
end
$$;
create trigger sessions_ended after delete on sessions referencing old table as ended
  for each statement execute function end_sessions();
create trigger memberships_changed after insert or update of role or delete on memberships
  for each statement execute function raise_access_revision();
create trigger operators_changed after update of is_operator on accounts
  for each statement execute function raise_access_revision();
`;
