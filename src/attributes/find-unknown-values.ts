/** Finds which of some values of attributes no device of a client has. */

import { boolean, integer, rowsOf, text } from '../database/rows.ts';
import type { Sql } from '../database/sql.ts';

interface NamedValue {
  readonly attributeId: number;
  readonly value: string;
  /** Values that begin with it and a hyphen count too. */
  readonly isPrefix: boolean;
}

/** Their places in the list. */
export async function findUnknownValues(
  sql: Sql,
  clientId: number,
  values: readonly NamedValue[],
): Promise<readonly number[]> {
  if (values.length === 0) return [];
  const placed = values.map((value, place) => ({ ...value, place }));
  const rows = await sql<{ place: number }[]>`
    select a.place from ${named(sql, placed)}
    where not exists (
      select from attribute_values v
      where v.client_id = ${clientId} and v.attribute_id = a.attribute_id
        and (v.value = a.value or (a.is_prefix and starts_with(v.value, a.value || '-')))
        and v.retired_at is null
    )
    order by a.place`;
  return rows.map(({ place }) => place);
}

const named = rowsOf<NamedValue & { readonly place: number }>('a', {
  place: integer(({ place }) => place),
  attribute_id: integer(({ attributeId }) => attributeId),
  value: text(({ value }) => value),
  is_prefix: boolean(({ isPrefix }) => isPrefix),
});
