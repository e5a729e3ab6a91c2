/**
 * A revision for sessions and roles, apart from that of credentials: who signs in and out makes no
 * node ask for its credentials again (decision 57).
 */

export const name = '0029-session-revision';

export const sql = `
-- One row. Another revision whenever a session that worked may work no longer, or a member's role is another one.
create table session_revision (
  only_row boolean primary key default true check (only_row),
  revision uuid not null default gen_random_uuid()
);
insert into session_revision default values;

-- The revision of access first: nobody who changes both waits for one who has done so the other way round. A node that others
-- call dead may answer for a while.
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
create or replace function end_sessions() returns trigger language plpgsql as $$
begin
  if exists (select from ended where ends_at > now()) then
    perform new_session_revision();
  end if;
  return null;
end
$$;
create or replace trigger memberships_changed after insert or update of role or delete on memberships
  for each statement execute function raise_session_revision();
create or replace trigger operators_changed after update of is_operator on accounts
  for each statement execute function raise_session_revision();

-- A node of the version before does not say that it does. Last, and with little patience: while this waits for the table no
-- node can beat, and after 2.5 s without a beat a node stops sending.
set local lock_timeout = '500ms';
alter table nodes add column reads_session_revision boolean not null default false;
`;
