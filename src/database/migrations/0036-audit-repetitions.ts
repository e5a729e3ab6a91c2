/**
 * Repetitions are one entry of the audit log, and what concerns access has room of its own
 * (decision 54).
 */

export const name = '0036-audit-repetitions';

export const sql = `
-- How often it was done, from \`at\` to \`last_at\`, which is null after once. A node of the version before writes an entry for each.
alter table audit_entries add column count integer not null default 1, add column last_at timestamptz;
-- Finds what an entry repeats.
create index audit_entries_of_object on audit_entries (client_id, action, object_id, id);
-- As audit/sql/access-entries.ts says.
create index audit_entries_of_access on audit_entries (client_id, id)
  where split_part(action, '.', 1) in ('client', 'credential', 'key', 'member', 'webhook') or action = 'app.delete';
`;
