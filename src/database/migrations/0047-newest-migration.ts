/** A node that migrates sees by it which others could not go on (nodes/left-behind.ts). */

export const name = '0047-newest-migration';

export const sql = `
-- The newest migration that the node knows. Null: it is older than this column.
alter table nodes add column newest_migration text;
`;
