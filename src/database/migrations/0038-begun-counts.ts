/** A paced send shows the devices of blocks that are not done yet (decision 51). */

export const name = '0038-begun-counts';

export const sql = `
-- What has become of the devices of blocks that are begun and not done: the epoch of the claim that
-- says so (by a later one these devices are counted again), then total, delivered, failed, skipped, expired, cancelled.
-- It is shown, and never added to counts. Null: the send is held to no rate, or nobody has it.
alter table chunks add column begun_counts integer[];
`;
