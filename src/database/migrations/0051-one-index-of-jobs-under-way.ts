/** One index of the jobs that are under way, in place of two: each small send wrote both. */

export const name = '0051-one-index-of-jobs-under-way';

export const sql = `
-- notifications_under_way_of_client has the same rows; who wants those of all clients reads it whole.
drop index notifications_under_way;
`;
