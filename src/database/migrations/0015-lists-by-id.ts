/** Tags and groups of a client are listed by their ids, a page at a time. */

export const name = '0015-lists-by-id';

export const sql = `
create index tags_of_client_by_id on tags (client_id, id) where deleted_at is null;
create index tag_groups_of_client_by_id on tag_groups (client_id, id);
`;
