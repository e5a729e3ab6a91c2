/**
 * The newest time that the database's clock has shown: so a clock that was set back is noticed.
 */

export const name = '0039-clock-watch';

export const sql = `
-- One row (database/maintenance/set-back-clock.ts). Waits that were written under a clock that was ahead are shortened once.
create table clock_watch (
  id smallint primary key check (id = 1),
  seen_at timestamptz not null
);
`;
