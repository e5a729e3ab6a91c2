/** Retries of push jobs: to whom an earlier one has not reached (decision 75). */

export const name = '0054-retries';

export const sql = `
-- The job that was sent first. Null: this one is no retry. No foreign key: the row may go before this one.
alter table notifications add column retries uuid;
-- A retry sends nothing from then on, since the reach that it leaves out may go. Null: no retry.
alter table notifications add column retries_until timestamptz;
create index notifications_retries on notifications (retries) where retries is not null;
`;
