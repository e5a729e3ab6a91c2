/**
 * Nodes claim work by (notification, app, platform), so that the troubles of one platform do not
 * affect another: an index finds due retries in this way.
 */

export const name = '0004-parts';

export const sql = `
drop index retries_due;
create index retries_due on retries (notification_id, app_id, platform_id, due_at);

-- What what was given back waits for, and until when: for whoever looks at the job.
alter table notification_scopes add column waiting_for text, add column waiting_until timestamptz;
`;
