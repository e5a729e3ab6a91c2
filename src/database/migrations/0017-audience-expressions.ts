/**
 * A notification may have an expression of tags: as it was given, and what it asks of a device
 * besides the three lists of tags (decision 49).
 */

export const name = '0017-audience-expressions';

export const sql = `
alter table notifications
  add column audience_expression text,
  add column audience_condition json;
`;
