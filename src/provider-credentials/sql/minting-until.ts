/** The end of the present right to make a token: reading and claiming share this condition. */

import { deadNodes } from '../../database/nodes/beats.ts';
import type { Fragment, Sql } from '../../database/sql.ts';
import { MINTING_MS_MAX, within } from './believed.ts';

/** Until when a node may mint for row `t` of `provider_tokens`; null: none, or its node is dead. */
export const mintingUntil = (sql: Sql, now: Fragment) => sql`
  case when t.node_minting_id = t.minting_id and t.node_id = any(${deadNodes(sql)}) then null
    else ${within(sql, now, sql`t.minting_until`, MINTING_MS_MAX)} end`;
