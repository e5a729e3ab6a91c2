/**
 * The nodes that send: other nodes claim the parts of a dead node without waiting for its lease
 * (decision 36).
 */

export const name = '0008-nodes';

export const sql = `
-- A node that sends, from its start, or from when it was taken for dead, to its end.
create table nodes (
  id integer generated always as identity primary key,
  -- For people.
  host text not null,
  pid integer not null,
  seen_at timestamptz not null default now(),
  -- Since then no beat of it was missed.
  beating_since timestamptz not null default now(),
  -- It has ended, or others take it for dead: for ever. It goes on, if it does, as another row.
  died_at timestamptz
) with (fillfactor = 50);

-- Who holds it, and under which claim. A node of the version before claims without a word here: it raises the epoch, and what
-- stands here is of an earlier claim then, and says nothing. Null: only the lease counts.
alter table chunks add column node_id integer, add column node_epoch integer;
alter table retries add column node_id integer, add column node_epoch integer;
-- Likewise for the right to make a token.
alter table provider_tokens add column node_id integer, add column node_minting_id uuid;
`;
