/** Attributes of devices: what clients declare, the values that there are, and who has them. */

export const name = '0048-attributes';

export const sql = `
-- Those that clients declare. Built-in ones have no row (domain/attributes.ts).
create table attributes (
  id integer primary key default nextval('object_ids'),
  client_id integer not null references clients on delete cascade,
  name text not null,
  type text not null,
  -- app, server or both.
  set_by text not null,
  -- The apps whose devices have it; null: all of the client.
  app_ids integer[],
  is_personal boolean not null,
  description text,
  created_at timestamptz not null default now(),
  unique (client_id, name)
);

-- The dictionary: each value that a device of the client has, or had a while ago. The id is a facet: it is never an id of a tag,
-- and never given to another value. Values of a deleted attribute stay until housekeeping has taken them off the devices.
create table attribute_values (
  id integer primary key default nextval('object_ids'),
  client_id integer not null references clients on delete cascade,
  -- Of a row of attributes, or of a built-in one, which is below zero.
  attribute_id integer not null,
  value text not null,
  -- Exact to a day.
  last_set_at timestamptz not null default now(),
  -- Set: no device had it, and the row goes unless a device gets it again. Registrations set it back to null.
  retired_at timestamptz,
  unique (client_id, attribute_id, value)
);

-- Ids of attribute_values, sorted, at most one of each attribute. Null: none was ever set.
alter table devices add column facet_ids integer[];

-- For each of device_keys its attributes, as [[attribute id, facet or null], …]. Null: the operation changes tags.
alter table bulk_operations add column device_facets jsonb[];
`;
