/** Work is claimed by (notification, app, platform), so that one platform's troubles are not another's: due retries are found by it. */

export const name = '0004-parts';

export const sql = `
drop index retries_due;
create index retries_due on retries (notification_id, app_id, platform_id, due_at);
`;
