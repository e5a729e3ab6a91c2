/** Lists the values of an attribute. There are ten thousand at most. */

import type { Sql } from '../../database/sql.ts';
import type { FacetId } from '../../domain/attributes.ts';

interface ListedValue {
  readonly id: FacetId;
  readonly value: string;
  /** Exact to a day. */
  readonly lastSetAt: number;
}

interface ValuesToList {
  readonly clientId: number;
  readonly attributeId: number;
  /** Only values with this text in them, in letters of either case. Null: all. */
  readonly text: string | null;
  readonly afterValue: string | null;
  readonly limit: number;
}

/** In the order of their letters, without those that no device has. */
export const listValues = (
  sql: Sql,
  { clientId, attributeId, text, afterValue, limit }: ValuesToList,
) => sql<ListedValue[]>`
  select id, value, floor(extract(epoch from last_set_at) * 1000)::float8 as "lastSetAt"
  from attribute_values
  where client_id = ${clientId} and attribute_id = ${attributeId} and retired_at is null
    and (${afterValue}::text is null or value collate "C" > ${afterValue}::text)
    and (${text}::text is null or strpos(lower(value), lower(${text}::text)) > 0)
  order by value collate "C" limit ${limit}`;
