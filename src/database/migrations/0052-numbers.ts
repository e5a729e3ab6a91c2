/** Declared numbers and times of devices, which are in no dictionary. */

export const name = '0052-numbers';

export const sql = `
-- For each value eight octets, sorted: the id of the attribute, and the value and 2^31, the highest octet first. Of a time the
-- minutes since 1970. At most one of each attribute. Null: none.
alter table devices add column numbers bytea;

-- For each of device_keys its numbers, as [[attribute id, 16 digits or null], …]. Null: the operation sets none.
alter table bulk_operations add column device_numbers jsonb[];

-- Deleted attributes whose numbers devices may still have. They match no device.
create table deleted_numbers (
  attribute_id integer primary key,
  client_id integer not null references clients on delete cascade,
  deleted_at timestamptz not null default now()
);
`;
