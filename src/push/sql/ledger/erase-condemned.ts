/** Forgets condemned devices of notifications that are to be erased: a bounded piece at a time. */

import type { Sql } from '../../../database/sql.ts';
import { list } from '../../../database/sql.ts';

/** `appId`: of this app only; null: of every app. Answers how many, at most `limit`. */
export async function eraseCondemned(
  tx: Sql,
  notificationIds: readonly string[],
  appId: number | null,
  limit: number,
): Promise<number> {
  const erased = await tx`
    delete from condemned_devices where ctid = any (array(
      select ctid from condemned_devices
      where notification_id = any (${list(notificationIds)}::uuid[]) ${appId === null ? tx`` : tx`and app_id = ${appId}`}
      limit ${limit}
    ))`;
  return erased.count;
}
