/** The audit log of each client (decision 54). */

export const name = '0023-audit';

export const sql = `
-- A row is written once, in the transaction of the change that it tells of, and never changed.
create table audit_entries (
  -- Of version 7: in the order of time, and it tells nobody how much other clients change.
  id uuid primary key,
  -- Cascades: nodes of the version before erase clients too, and the rows of one are bounded.
  client_id integer not null references clients on delete cascade,
  at timestamptz not null default now(),
  -- credential, key, account or operator.
  actor_kind text not null,
  actor_id integer,
  actor_name text,
  action text not null,
  object_id text,
  object_name text,
  address text,
  request_id text,
  detail json
);
create index audit_entries_of_client on audit_entries (client_id, id);
`;
