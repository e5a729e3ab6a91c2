/** How many devices a second a notification is sent to at most (decision 51). */

export const name = '0020-rates';

export const sql = `
-- Null: as many as can be.
alter table notifications add column rate_per_second integer;

-- A row for each notification that was ever held to a rate. Apart from the notification, whose row
-- is wide, and locked while progress is recorded: this one is written ten times a second.
create table notification_paces (
  notification_id uuid primary key references notifications on delete cascade,
  -- Sends until this time are taken: the next ones begin then.
  drawn_until timestamptz not null
) with (fillfactor = 50);
`;
