/**
 * The one condition for claiming a chunk or a retry, which the list of claimable work and both
 * claims share.
 */

import { deadNodes } from '../../../database/nodes/beats.ts';
import type { Sql } from '../../../database/sql.ts';

/**
 * Whether a row of `chunks` or `retries` is held by no node: it was given back, its lease has
 * ended, or the node that claimed it is dead.
 */
export const isUnheld = (sql: Sql) => sql`(
  lease_until is null or lease_until <= now() or (node_epoch = epoch and node_id = any(${deadNodes(sql)}))
)`;
