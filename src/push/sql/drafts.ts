/** The drafts of notifications that the members of a client share. */

import type { JsonObject } from '../../../packages/std/src/json.ts';
import type { Sql } from '../../database/sql.ts';

export interface ListedDraft {
  readonly id: number;
  readonly name: string;
  /** Who saved it last. */
  readonly userName: string;
  readonly revision: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface Draft extends ListedDraft {
  readonly content: JsonObject;
}

export type DraftTerms = Pick<Draft, 'name' | 'content' | 'userName'>;

const listedColumns = (sql: Sql) => sql`
  id, name, user_name as "userName", revision,
  floor(extract(epoch from created_at) * 1000)::float8 as "createdAt",
  floor(extract(epoch from updated_at) * 1000)::float8 as "updatedAt"`;

/** Those that were changed last come first. */
export const listDrafts = (sql: Sql, clientId: number) => sql<ListedDraft[]>`
  select ${listedColumns(sql)} from drafts where client_id = ${clientId} order by updated_at desc, id desc`;

export async function countDrafts(sql: Sql, clientId: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count from drafts where client_id = ${clientId}`;
  return row?.count ?? 0;
}

export async function findDraft(sql: Sql, clientId: number, id: number): Promise<Draft | null> {
  const [row] = await sql<Draft[]>`
    select ${listedColumns(sql)}, content from drafts where id = ${id} and client_id = ${clientId}`;
  return row ?? null;
}

export async function insertDraft(
  tx: Sql,
  clientId: number,
  { name, content, userName }: DraftTerms,
): Promise<Draft> {
  const [row] = await tx<Draft[]>`
    insert into drafts (client_id, name, content, user_name)
    values (${clientId}, ${name}, ${JSON.stringify(content)}::text::json, ${userName})
    returning ${listedColumns(tx)}, content`;
  if (row === undefined) throw new Error('a draft was not inserted');
  return row;
}

/** Within a transaction that holds the client. */
export async function changeDraft(
  tx: Sql,
  id: number,
  { name, content, userName }: DraftTerms,
): Promise<Draft> {
  const [row] = await tx<Draft[]>`
    update drafts set name = ${name}, content = ${JSON.stringify(content)}::text::json,
      user_name = ${userName}, revision = revision + 1, updated_at = now()
    where id = ${id} returning ${listedColumns(tx)}, content`;
  if (row === undefined) throw new Error('a draft was not changed');
  return row;
}

export async function deleteDraft(tx: Sql, id: number): Promise<void> {
  await tx`delete from drafts where id = ${id}`;
}
