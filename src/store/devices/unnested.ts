/** Subscriptions as rows of a statement. */

import type { Subscription } from '../../domain/group-change.ts';
import type { Sql } from '../sql.ts';
import { list } from '../sql.ts';

/** Columns: app_id, platform_id, ordinal, tag_id. */
export const unnested = (tx: Sql, rows: readonly Subscription[]) => tx`unnest(
  ${list(rows.map((row) => row.appId))}::int[], ${list(rows.map((row) => row.platformId))}::int[],
  ${list(rows.map((row) => row.ordinal))}::int[], ${list(rows.map((row) => row.tagId))}::int[])`;
