/** A receiver of webhooks may say that it is gone for good (decision 58). */

export const name = '0034-gone-receivers';

export const sql = `
-- When the receiver answered 410, by which the webhook was turned off. Null: it has not, or somebody has turned it on since.
alter table webhooks add column gone_at timestamptz;
`;
