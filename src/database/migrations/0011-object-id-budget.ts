/**
 * Counts the ids of tags and groups that a client has ever had: all clients share one sequence of
 * two thousand million (database/object-ids.ts).
 */

export const name = '0011-object-id-budget';

export const sql = `
-- Those that a node of the version before draws are not counted.
alter table clients add column object_ids_drawn integer not null default 0;
`;
