/** Named expressions (segments/), and pushes to every device with a subscription. */

export const name = '0049-segments';

export const sql = `
create table segments (
  client_id integer not null references clients on delete cascade,
  name text not null,
  -- As it was given. A push that names the segment keeps what it is then.
  expression text not null,
  description text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (client_id, name)
);

-- The audience is every device with a tag, besides those with a target. Null: it is not.
alter table notifications add column is_to_everybody boolean;
`;
