/** Drafts of notifications (push/routes/drafts.ts), and jobs that pause by themselves. */

export const name = '0044-drafts-and-stages';

export const sql = `
-- What members of a client compose, shared among them.
create table drafts (
  id integer primary key generated always as identity,
  client_id integer not null references clients on delete cascade,
  name text not null,
  -- json, not jsonb: it is returned as it was given.
  content json not null,
  -- Who saved it last.
  user_name text not null,
  -- Raised by each change: a change that knows an older one is refused.
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index drafts_client on drafts (client_id);

-- After so many devices the job pauses by itself, once. Null: it does not.
alter table notifications add column pause_after integer;
-- When it did.
alter table notifications add column stage_ended_at timestamptz;
-- Sends that may still be drawn before that. Null: as many as the rate has.
alter table notification_paces add column stage_left integer;
`;
