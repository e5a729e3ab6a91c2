/** Reads the optional parameters of a client's tags, of those that have any. */

import type { Sql } from '../../database/sql.ts';

export type ParametersOfTags = ReadonlyMap<number, Readonly<Record<string, string>>>;

export async function readParameters(sql: Sql, clientId: number): Promise<ParametersOfTags> {
  const rows = await sql<{ id: number; parameters: Readonly<Record<string, string>> }[]>`
    select id, optional_parameters as parameters from tags
    where client_id = ${clientId} and deleted_at is null and optional_parameters <> '{}'`;
  return new Map(rows.map(({ id, parameters }) => [id, parameters]));
}
