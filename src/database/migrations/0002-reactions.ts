/**
 * Data for reactions to outcomes: sends of unknown end, refused tokens, a device's other
 * environment, and deletions that wait for the gate.
 */

export const name = '0002-reactions';

export const sql = `
-- At most once: a send whose end nobody knows is never sent again.
alter table notifications add column at_most_once boolean not null default false;

-- Blocks that may have been sent in part: written before their first send, for at-most-once notifications only.
alter table chunks add column started_blocks bigint not null default 0;

alter table notification_scopes
  -- Sends of unknown end that were due to be sent again.
  add column uncertain bigint not null default 0,
  -- Devices that the provider called dead; that it refused and that may be another's.
  add column gone bigint not null default 0,
  add column refused bigint not null default 0,
  -- Null: nothing in condemned_devices. Pending: until the gate opens. Held: it closed. Released, discarded: somebody decided.
  add column deletions text check (deletions in ('pending', 'held', 'released', 'discarded')),
  add column held_deletions bigint not null default 0,
  add column held_at timestamptz;
create index notification_scopes_deletions on notification_scopes (notification_id) where deletions is not null;

alter table devices
  -- Sends at different times that refused the token, since the last one that did not or the last registration.
  add column refusals smallint not null default 0,
  add column refused_at timestamptz,
  -- Where APNs took its token, when that is not where it was asked first.
  add column apns_environment text,
  -- Not validated: there is none yet, and reading a hundred million devices would hold everybody up.
  add constraint devices_apns_environment check (apns_environment in ('production', 'sandbox')) not valid;

-- Verdicts of providers on devices, written with the outcome they came from; carried out, or held, afterwards.
create table condemned_devices (
  notification_id uuid not null references notifications on delete cascade,
  app_id integer not null,
  platform_id smallint not null,
  ordinal integer not null,
  -- A device that registered at or after this time is saved.
  registered_before timestamptz not null,
  -- Refused, not dead: it is counted, and only the last of several such verdicts erases.
  is_refusal boolean not null,
  primary key (notification_id, app_id, platform_id, ordinal)
);
`;
