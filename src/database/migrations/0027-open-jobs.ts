/** Counting the push jobs of a client that are under way reads none of other clients. */

export const name = '0027-open-jobs';

export const sql = `
create index notifications_under_way_of_client on notifications (client_id, id)
  where finished_at is null and state in ('RUNNING', 'PAUSED', 'CANCELLED');
`;
