/** Settings that the owners of a client make for its members (domain/client-settings.ts). */

export const name = '0041-client-settings';

export const sql = `
-- By their names. Null: all have their defaults.
alter table clients add column settings jsonb;
`;
