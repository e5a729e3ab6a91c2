/** The one condition for claiming a chunk or a retry, for the list of work and both claims. */

import { deadNodes } from '../../../database/nodes/beats.ts';
import type { Sql } from '../../../database/sql.ts';

/** A row that was given back, whose lease has ended, or whose node is dead. */
export const isUnheld = (sql: Sql) => sql`(
  lease_until is null or lease_until <= now() or (node_epoch = epoch and node_id = any(${deadNodes(sql)}))
)`;
