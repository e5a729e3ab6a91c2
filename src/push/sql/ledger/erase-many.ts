/** Erases rows of jobs where a single job may have millions: a bounded piece at a time. */

import type { Sql } from '../../../database/sql.ts';
import { list } from '../../../database/sql.ts';

/** Devices that are to be erased, and groups of devices that were reached. */
type ManyRows = 'condemned_devices' | 'push_reach';
const ALL: readonly ManyRows[] = ['condemned_devices', 'push_reach'];

/**
 * `appId`: of this app only; null: of every app. Answers whether there may be more than the `limit`
 * rows that were erased.
 */
export async function eraseMany(
  tx: Sql,
  notificationIds: readonly string[],
  appId: number | null,
  limit: number,
  tables: readonly ManyRows[] = ALL,
): Promise<boolean> {
  for (const table of tables) {
    const erased = await tx`
      delete from ${tx(table)} where ctid = any (array(
        select ctid from ${tx(table)}
        where notification_id = any (${list(notificationIds)}::uuid[]) ${appId === null ? tx`` : tx`and app_id = ${appId}`}
        limit ${limit}
      ))`;
    if (erased.count === limit) return true;
  }
  return false;
}
