/** Counts the bytes of optional parameters as JSON: of some tags, and of all others. */

import type { Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';

interface ParameterBytes {
  readonly own: number;
  readonly others: number;
}

export async function parameterBytes(
  sql: Sql,
  clientId: number,
  ownIds: readonly number[],
): Promise<ParameterBytes> {
  const [row] = await sql<ParameterBytes[]>`
    select coalesce(sum(bytes) filter (where is_own), 0)::float8 as own,
      coalesce(sum(bytes) filter (where not is_own), 0)::float8 as others
    from (
      select octet_length(optional_parameters::text) as bytes, id = any(${list(ownIds)}::integer[]) as is_own
      from tags where client_id = ${clientId} and deleted_at is null and optional_parameters is not null
    ) t`;
  return row ?? { own: 0, others: 0 };
}
