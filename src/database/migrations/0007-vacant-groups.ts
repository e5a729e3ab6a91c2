/**
 * A mark on groups that all devices have left, so that planning skips them
 * (devices/sql/move-devices.ts).
 */

export const name = '0007-vacant-groups';

export const sql = `
-- The version at which nobody was in the group; it says nothing any more once the version is another one.
alter table device_groups add column vacant_version bigint;
`;
