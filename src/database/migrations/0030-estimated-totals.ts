/** While a push runs, its total can be estimated: from the parts that were looked at so far. */

export const name = '0030-estimated-totals';

export const sql = `
-- Chunks that were planned for it. Null: not planned yet, or by a node of the version before.
alter table notification_scopes add column planned_chunks integer;
-- Devices of its blocks that are not done, as its holder found them. Null: nobody has looked yet.
alter table chunks add column open_devices integer;
`;
