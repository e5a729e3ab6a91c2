/** Finds the attributes that a client has declared. */

import type { Sql } from '../database/sql.ts';
import type { Attribute } from '../domain/attributes.ts';

/** At most ATTRIBUTES_PER_CLIENT_MAX. */
export const findAttributes = (sql: Sql, clientId: number) => sql<Attribute[]>`
  select id, name, type, set_by as "setBy", app_ids as "appIds", is_personal as "isPersonal"
  from attributes where client_id = ${clientId}`;
