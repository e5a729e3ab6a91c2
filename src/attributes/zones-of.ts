/** The time zones of the devices of a client. */

import type { Sql } from '../database/sql.ts';
import { TIMEZONE_ID } from '../domain/attributes.ts';
import { readFacets } from './sql/read-facets.ts';

/** Those that devices have, or had a while ago. */
export async function zonesOf(sql: Sql, clientId: number): Promise<readonly string[]> {
  const facets = await readFacets(sql, clientId, { whole: [TIMEZONE_ID] });
  return facets.map(({ value }) => value);
}
