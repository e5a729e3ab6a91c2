/**
 * Data for sending that nodes share: the providers' tokens and quotas, and the health of each
 * credential.
 */

export const name = '0003-provider-authority';

export const sql = `
-- One token for each identity that signs (a team's key, a service account), for all nodes and across restarts.
create table provider_tokens (
  -- Digest of what signs. Without SECRET_KEY: under another one the token cannot be read, but when it was made can.
  identity text primary key,
  -- Names the value: "the one that was refused" must not be said of its successor.
  value_id uuid,
  value_sealed bytea,
  value_key_id text,
  minted_at timestamptz,
  refresh_at timestamptz,
  expires_at timestamptz,
  -- Who makes the next one, and until when: after a crash somebody else may.
  minting_id uuid,
  minting_until timestamptz,
  -- The provider has had too many: none is made before.
  frozen_until timestamptz,
  -- The last attempt came to nothing: why, and when to try again.
  failure text,
  failure_is_final boolean,
  retry_at timestamptz,
  touched_at timestamptz not null default now()
) with (fillfactor = 50);
create index provider_tokens_by_age on provider_tokens (touched_at);

-- One token bucket for each project of a provider, for all nodes (push/sql/draw-permits.ts).
create table provider_quotas (
  key text primary key,
  permits double precision not null,
  -- How far its rate has risen since it was idle, in milliseconds of use.
  ramp_ms double precision not null default 0,
  refilled_at timestamptz not null default clock_timestamp(),
  -- The provider has said when to come back.
  paused_until timestamptz
) with (fillfactor = 50);

alter table app_platforms
  -- Raised by every put: what is said of a credential must not be said of its successor.
  add column credential_version integer not null default 0,
  -- The operator's word, where he gave it.
  add column credential_expires_at timestamptz,
  -- The one before it, of the same account: used when the provider refuses the new one.
  add column previous_sealed bytea,
  add column previous_key_id text,
  add column previous_until timestamptz,
  -- The provider has refused the new one while the one before it was still good.
  add column refused_reason text,
  add column refused_at timestamptz;

-- What is known of a provider's credential besides: a row apart, for app_platforms is written by registrations.
create table credential_health (
  app_id integer not null,
  platform_id smallint not null,
  -- Of sends.
  accepted_at timestamptz,
  fault text,
  fault_at timestamptz,
  -- Of asking the provider on purpose. Null: it could not be asked.
  checked_at timestamptz,
  check_ok boolean,
  check_note text,
  -- Days before the end of which a warning was last logged, and of which credential.
  warned_days smallint,
  warned_version integer,
  primary key (app_id, platform_id)
) with (fillfactor = 50);
`;
