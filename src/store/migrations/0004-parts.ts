/**
 * Work is claimed by (notification, app, platform), so that one platform's troubles are not
 * another's: due retries are found by it.
 */

export const name = '0004-parts';

export const sql = `
drop index retries_due;
create index retries_due on retries (notification_id, app_id, platform_id, due_at);

-- What what was given back waits for, and until when: for whoever looks at the job.
alter table notification_scopes add column waiting_for text, add column waiting_until timestamptz;
`;
