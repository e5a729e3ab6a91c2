/** Retries of push jobs: to whom an earlier one has not reached (decision 75). */

export const name = '0054-retries';

export const sql = `
-- The job that was sent first. Null: this one is no retry. No foreign key: the row may go before this one.
alter table notifications add column retries uuid;
create index notifications_retries on notifications (retries) where retries is not null;
`;
