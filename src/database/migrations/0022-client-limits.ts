/**
 * Limits of a client that its operator has set (decision 53). Nodes remember them with the client's
 * callers, so a change raises the access revision.
 */

export const name = '0022-client-limits';

export const sql = `
-- By their names (domain/client-limits.ts). Null: none, so all of them have their defaults.
alter table clients add column limits jsonb;

create trigger client_limits_changed after update of limits on clients
  for each statement execute function raise_access_revision();
`;
