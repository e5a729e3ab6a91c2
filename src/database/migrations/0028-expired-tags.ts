/** Looking for tags that have expired reads only tags that can. */

export const name = '0028-expired-tags';

export const sql = `
create index tags_expiring on tags (expires_at_ms) where expires_at_ms is not null and deleted_at is null;
`;
