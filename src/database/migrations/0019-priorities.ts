/**
 * Urgent sends (decision 47). The due ones have lines of their own, so the index of the lines knows
 * urgency; a node of the version before, which does not ask for it, sorts what it finds.
 */

export const name = '0019-priorities';

export const sql = `
alter table notifications add column urgent boolean not null default false;
create index notifications_due_by_urgency on notifications (client_id, state, urgent, send_at)
  where finished_at is null and state in ('SCHEDULED', 'QUEUED');
drop index notifications_due;
`;
