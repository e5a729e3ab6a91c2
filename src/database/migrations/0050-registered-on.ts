/** The day of a device's first registration, which `@registered` tests. */

export const name = '0050-registered-on';

export const sql = `
-- In UTC. Null: it was registered before this column was there.
alter table devices add column registered_on date;
-- Not for the rows that there are. Nodes of earlier versions fill it by this, too.
alter table devices alter column registered_on set default (now() at time zone 'UTC')::date;
`;
