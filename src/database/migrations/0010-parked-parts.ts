/**
 * Marks on a part that no node can finish (decision 39): its claims without progress, the last
 * failure, and that it is parked.
 */

export const name = '0010-parked-parts';

export const sql = `
alter table chunks
  -- Claims since anything of it was recorded or it was given back in order, that under way included.
  add column claims_without_progress smallint not null default 0,
  -- Why the last one failed. Null: whoever held it was lost.
  add column last_failure text,
  -- Nothing of it is sent until an operator releases it. available_at is 'infinity' then, which nodes of the version before obey too.
  add column parked_at timestamptz,
  -- That were counted as failed for it.
  add column parked_devices integer;
create index chunks_parked on chunks (notification_id) where parked_at is not null;

-- The same of each retry; due_at is 'infinity' then.
alter table retries
  add column claims_without_progress smallint not null default 0,
  add column last_failure text,
  add column parked_at timestamptz;
create index retries_parked on retries (notification_id) where parked_at is not null;
`;
