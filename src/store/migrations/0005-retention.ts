/** What deleting old notifications needs: finding them, and what refers to them, without reading whole tables. */

export const name = '0005-retention';

export const sql = `
create index notifications_finished on notifications (finished_at) where finished_at is not null;
-- The foreign key looks for it with every notification that is deleted.
create index idempotency_keys_of_notification on idempotency_keys (notification_id);
`;
