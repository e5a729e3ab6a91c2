/** The attributes that a client has declared, for those who look at them and change them. */

import type { Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import type { AttributeType, Setter } from '../../domain/attributes.ts';
import { ATTRIBUTE_TYPES } from '../../domain/attributes.ts';
import { isNumberType } from '../../domain/device-numbers.ts';

/** The part that can be changed. */
export interface AttributeTerms {
  readonly setBy: Setter;
  readonly appIds: readonly number[] | null;
  readonly personal: boolean;
  readonly description: string | null;
}

export interface ListedAttribute extends AttributeTerms {
  readonly id: number;
  readonly name: string;
  readonly type: AttributeType;
  readonly createdAt: number;
}

const columns = (sql: Sql) => sql`
  id, name, type, set_by as "setBy", app_ids as "appIds", is_personal as personal, description,
  floor(extract(epoch from created_at) * 1000)::float8 as "createdAt"`;

/** Lists them by name, without those of types that only a later version knows. */
export const listAttributes = (sql: Sql, clientId: number) => sql<ListedAttribute[]>`
  select ${columns(sql)} from attributes
  where client_id = ${clientId} and type = any (${[...ATTRIBUTE_TYPES]}::text[])
  order by name collate "C"`;

export async function countAttributes(sql: Sql, clientId: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) from attributes where client_id = ${clientId}`;
  return row?.count ?? 0;
}

export async function findAttribute(
  sql: Sql,
  clientId: number,
  name: string,
): Promise<ListedAttribute | null> {
  const [row] = await sql<ListedAttribute[]>`
    select ${columns(sql)} from attributes where client_id = ${clientId} and name = ${name}`;
  return row ?? null;
}

/** Null: there is one of this name. */
export async function insertAttribute(
  tx: Sql,
  clientId: number,
  id: number,
  { name, type, ...terms }: AttributeTerms & Pick<ListedAttribute, 'name' | 'type'>,
): Promise<ListedAttribute | null> {
  const [row] = await tx<ListedAttribute[]>`
    insert into attributes (id, client_id, name, type, set_by, app_ids, is_personal, description)
    values (${id}, ${clientId}, ${name}, ${type}, ${terms.setBy}, ${idsOf(terms)}::integer[], ${terms.personal},
      ${terms.description})
    on conflict (client_id, name) do nothing
    returning ${columns(tx)}`;
  return row ?? null;
}

export const changeAttribute = (tx: Sql, id: number, terms: AttributeTerms) => tx`
  update attributes set set_by = ${terms.setBy}, app_ids = ${idsOf(terms)}::integer[],
    is_personal = ${terms.personal}, description = ${terms.description}
  where id = ${id}`;

/** Its values match no device from now on; housekeeping takes them off the devices. */
export async function deleteAttribute(
  tx: Sql,
  clientId: number,
  { id, type }: Pick<ListedAttribute, 'id' | 'type'>,
): Promise<void> {
  await tx`delete from attributes where id = ${id}`;
  if (isNumberType(type)) {
    await tx`insert into deleted_numbers (attribute_id, client_id) values (${id}, ${clientId})`;
    return;
  }
  await tx`
    update attribute_values set retired_at = now()
    where id in (
      select id from attribute_values where client_id = ${clientId} and attribute_id = ${id}
      order by id for no key update
    )`;
}

const idsOf = ({ appIds }: AttributeTerms): string | null =>
  appIds === null ? null : list(appIds);

/** Those of the ids that are no apps of the client. */
export async function unknownApps(
  sql: Sql,
  clientId: number,
  appIds: readonly number[],
): Promise<readonly number[]> {
  const rows = await sql<{ id: number }[]>`
    select id from unnest(${list(appIds)}::integer[]) as given (id)
    where not exists (select from apps a where a.id = given.id and a.client_id = ${clientId})`;
  return rows.map(({ id }) => id);
}
