/**
 * For operators: old notifications are found by their end, and a schema says which versions can
 * work on it.
 */

export const name = '0005-operating';

export const sql = `
create index notifications_finished on notifications (finished_at) where finished_at is not null;
-- The foreign key looks for it with every notification that is deleted.
create index idempotency_keys_of_notification on idempotency_keys (notification_id);

-- Null: nodes of the version before work on. Else the name of the newest migration that a node must know.
alter table migrations add column needs text;
`;
