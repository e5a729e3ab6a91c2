/** Since when the sends or checks of a provider credential fail (provider-credentials/sql/). */

export const name = '0046-refused-since';

export const sql = `
-- Null: the last send or check worked, or there was none.
alter table credential_health add refused_since timestamptz;
`;
