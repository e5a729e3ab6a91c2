/**
 * A table to which /readyz writes, to prove that the database takes writes
 * (database/write-probe.ts).
 */

export const name = '0009-write-probe';

export const sql = `
-- One row, for all nodes.
create table write_probe (
  id smallint primary key check (id = 1),
  written_at timestamptz not null
);
`;
