/** Keeps sends away from an (app, platform) while its devices change their ordinals. */

import type { Sql } from '../../database/sql.ts';
import type { Scope } from '../../domain/device.ts';

/**
 * A later send is planned after the end of the transaction: that has few statements of 10 s each,
 * and as long pauses (database/transact.ts).
 * @limit a scheduled push that is nearer than this keeps compaction away → another time
 */
const SCHEDULED_MS_MIN = 300_000;

/**
 * True: no unfinished notification covers the (app, platform), but those later than
 * `SCHEDULED_MS_MIN` and those between two waves, no deletions of one are open, and until the
 * transaction ends none of the client is accepted: acceptance needs the client's row (a foreign
 * key), locked here, on nodes of every version, and is planned from a later snapshot. (What is
 * planned by the statement that accepts it has locked the row before: push/dispatch/at-once.ts.)
 * False: not now.
 */
export async function barSends(tx: Sql, { appId, platformId }: Scope): Promise<boolean> {
  // Another transaction may be accepting a push or changing tags: this one gives up.
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
        -- Between two waves nothing of it is under way, and the next is planned as a later send is.
        and (
          n.next_wave_at is null or n.open_chunks > 1 or n.open_retries > 0
          or least(n.next_wave_at, n.expires_at) <= now() + ${SCHEDULED_MS_MIN}::float8 * interval '1 millisecond'
        )
        and s.app_id = ${appId} and s.platform_id = ${platformId}
    ) or exists (
      select from notification_scopes
      where deletions is not null and app_id = ${appId} and platform_id = ${platformId}
    ) as "isCovered"`;
  return found?.isCovered === false;
}
