/** Keeps sends away from an (app, platform) while its devices change their places. */

import type { PlatformOfApp } from '../../domain/device.ts';
import type { Sql } from '../sql.ts';

/**
 * A send that is scheduled for later than this is not planned before the transaction has ended:
 * each of its few statements has 10 s (store/transact), and so has the silence between them.
 */
const SCHEDULED_MS_MIN = 300_000;

/**
 * True: no unfinished notification covers the (app, platform) but those of `SCHEDULED_MS_MIN`, no
 * verdict of an earlier one on its devices is open, and until the transaction ends no notification
 * of its client is accepted. Accepting needs the client's row (a foreign key), which is locked
 * here: so it waits, on nodes of every version, and whatever is accepted is planned from a later
 * snapshot than this transaction's commit. False: not now.
 */
export async function barSends(tx: Sql, { appId, platformId }: PlatformOfApp): Promise<boolean> {
  // Somebody is accepting a push, or changing tags, in this moment: not he waits, but we.
  const [client] = await tx`
    select from clients where id = (select client_id from apps where id = ${appId})
    for update skip locked`;
  if (client === undefined) return false;
  // A statement of its own: it sees everything that was accepted before the lock.
  const [found] = await tx<{ isCovered: boolean }[]>`
    select exists (
      select from notifications n
      join notification_scopes s on s.notification_id = n.id
      where n.finished_at is null
        and n.send_at <= now() + ${SCHEDULED_MS_MIN}::float8 * interval '1 millisecond'
        and s.app_id = ${appId} and s.platform_id = ${platformId}
    ) or exists (
      select from notification_scopes
      where deletions is not null and app_id = ${appId} and platform_id = ${platformId}
    ) as "isCovered"`;
  return found?.isCovered === false;
}
