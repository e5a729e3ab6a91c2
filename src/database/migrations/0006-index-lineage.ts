/**
 * A row that tells a tag index that the database has gone back in time
 * (tag-index/groups/lineage.ts).
 */

export const name = '0006-index-lineage';

export const sql = `
create table index_lineage (
  only_row boolean primary key default true check (only_row),
  -- What the index calls this database.
  name text not null,
  -- System identifier and timeline of PostgreSQL, as seen last.
  identity text
);
`;
