/** Finds the notifications that a fault stopped somewhere (push/sql/notifications/). */

export const name = '0042-index-of-faults';

export const sql = `
-- Few have one: a list of these reads no others.
create index notification_scopes_faults on notification_scopes (notification_id) where fault is not null;
`;
