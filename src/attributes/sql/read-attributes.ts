/** Reads the attributes that clients have declared. */

import { name as MIGRATION } from '../../database/migrations/0048-attributes.ts';
import { name as NUMBERS } from '../../database/migrations/0052-numbers.ts';
import { everyNodeKnows } from '../../database/nodes/every-node-knows.ts';
import type { Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import type { Attribute } from '../../domain/attributes.ts';
import { ATTRIBUTE_TYPES } from '../../domain/attributes.ts';

interface DeclaredAttribute extends Attribute {
  readonly clientId: number;
}

/** Leaves out types that this version does not know: a later one may have more. */
export const readDeclared = (sql: Sql, clientIds: readonly number[]) => sql<DeclaredAttribute[]>`
  select id, client_id as "clientId", name, type, set_by as "setBy", app_ids as "appIds",
    is_personal as "isPersonal"
  from attributes
  where client_id = any (${list(clientIds)}::integer[]) and type = any (${[...ATTRIBUTE_TYPES]}::text[])
  order by name`;

/** False: a node of a version before them is at work, which would lose what is set. */
export interface Taken {
  readonly areTaken: boolean;
  readonly areNumbersTaken: boolean;
}

export async function readTaken(sql: Sql): Promise<Taken> {
  const [row] = await sql<Taken[]>`
    select ${everyNodeKnows(sql, MIGRATION)} as "areTaken", ${everyNodeKnows(sql, NUMBERS)} as "areNumbersTaken"`;
  return row ?? { areTaken: false, areNumbersTaken: false };
}
