/** Accepts a bulk operation: from its commit on it is carried out, whichever node dies. */

import type { Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import type {
  BulkAction,
  BulkChange,
  FacetPairs,
  NumberPairs,
} from '../../domain/bulk-operation.ts';
import type { Scope } from '../../domain/device.ts';

export interface NewBulkOperation extends BulkChange {
  readonly clientId: number;
  readonly userName: string;
  readonly action: BulkAction;
  /** The devices of a list; null: the members of a tag. */
  readonly listed: (Scope & { readonly deviceKeys: readonly string[] }) | null;
  /** For each device of the list its attributes; absent: the operation changes tags. */
  readonly deviceFacets?: readonly FacetPairs[];
  /** The same of its numbers; absent: none is given. */
  readonly deviceNumbers?: readonly NumberPairs[];
  /** Only members in these apps; null: in all. */
  readonly appIds: readonly number[] | null;
  readonly total: number;
}

/** How many of the client's have not ended. */
export async function countOpenBulkOperations(tx: Sql, clientId: number): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*) from bulk_operations where client_id = ${clientId} and ended_at is null`;
  return row?.count ?? 0;
}

/** Answers its id. Under the client's lock: ids are in the order in which they become visible. */
export async function insertBulkOperation(tx: Sql, operation: NewBulkOperation): Promise<number> {
  const { clientId, userName, action, subscribe, unsubscribe, memberOf, listed } = operation;
  const facets = jsonOf(operation.deviceFacets);
  const numbers = jsonOf(operation.deviceNumbers);
  const appIds = operation.appIds === null ? null : list(operation.appIds);
  const [row] = await tx<{ id: number }[]>`
    insert into bulk_operations (client_id, user_name, action, subscribe_tag_ids, unsubscribe_tag_ids, member_of, app_ids,
      app_id, platform_id, device_keys, device_facets, device_numbers, total)
    values (${clientId}, ${userName}, ${action}, ${list(subscribe)}::integer[], ${list(unsubscribe)}::integer[], ${memberOf},
      ${appIds}::integer[], ${listed?.appId ?? null}, ${listed?.platformId ?? null},
      ${listed === null ? null : list(listed.deviceKeys)}::uuid[], ${facets}::text[]::jsonb[], ${numbers}::text[]::jsonb[], ${operation.total})
    returning id`;
  if (row === undefined) throw new Error('an insert has no row');
  return row.id;
}

const jsonOf = (
  devices: readonly (FacetPairs | NumberPairs)[] | undefined,
): readonly string[] | null => devices?.map((pairs) => JSON.stringify(pairs)) ?? null;
