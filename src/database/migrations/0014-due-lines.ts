/**
 * Two indexes: one finds the due notifications, one finds those under way. Neither search reads
 * past the other kind, however many wait (decision 44).
 */

export const name = '0014-due-lines';

export const sql = `
create index notifications_due on notifications (client_id, state, send_at)
  where finished_at is null and state in ('SCHEDULED', 'QUEUED');
create index notifications_under_way on notifications (id)
  where finished_at is null and state in ('RUNNING', 'PAUSED', 'CANCELLED');
`;
