/** The segments of a client: named expressions. */

import type { Sql } from '../../database/sql.ts';
import { textList } from '../../database/sql.ts';

interface SegmentTerms {
  readonly expression: string;
  readonly description: string | null;
}

export interface Segment extends SegmentTerms {
  readonly name: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

const columns = (sql: Sql) => sql`
  name, expression, description,
  floor(extract(epoch from created_at) * 1000)::float8 as "createdAt",
  floor(extract(epoch from updated_at) * 1000)::float8 as "updatedAt"`;

export const listSegments = (sql: Sql, clientId: number) => sql<Segment[]>`
  select ${columns(sql)} from segments where client_id = ${clientId} order by name`;

/** Those of the names that there are. */
export const findSegments = (sql: Sql, clientId: number, names: readonly string[]) => sql<
  Pick<Segment, 'name' | 'expression'>[]
>`
  select name, expression from segments
  where client_id = ${clientId} and name = any(${textList(names)}::text[])`;

export async function listSegmentNames(sql: Sql, clientId: number): Promise<readonly string[]> {
  const rows = await sql<{ name: string }[]>`
    select name from segments where client_id = ${clientId} order by name`;
  return rows.map(({ name }) => name);
}

export async function findSegment(
  sql: Sql,
  clientId: number,
  name: string,
): Promise<Segment | null> {
  const [row] = await sql<Segment[]>`
    select ${columns(sql)} from segments where client_id = ${clientId} and name = ${name}`;
  return row ?? null;
}

export async function countSegments(sql: Sql, clientId: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count from segments where client_id = ${clientId}`;
  return row?.count ?? 0;
}

/** Null: there is one of this name. */
export async function insertSegment(
  tx: Sql,
  clientId: number,
  { name, expression, description }: SegmentTerms & { readonly name: string },
): Promise<Segment | null> {
  const [row] = await tx<Segment[]>`
    insert into segments (client_id, name, expression, description)
    values (${clientId}, ${name}, ${expression}, ${description})
    on conflict do nothing returning ${columns(tx)}`;
  return row ?? null;
}

/** Within a transaction that holds the client. */
export async function changeSegment(
  tx: Sql,
  clientId: number,
  name: string,
  { expression, description }: SegmentTerms,
): Promise<Segment> {
  const [row] = await tx<Segment[]>`
    update segments set expression = ${expression}, description = ${description}, updated_at = now()
    where client_id = ${clientId} and name = ${name} returning ${columns(tx)}`;
  if (row === undefined) throw new Error('a segment was not changed');
  return row;
}

export async function deleteSegment(tx: Sql, clientId: number, name: string): Promise<void> {
  await tx`delete from segments where client_id = ${clientId} and name = ${name}`;
}
