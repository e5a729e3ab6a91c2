/**
 * Hands the devices that a cancelled job is not sent to over to its correction (decision 77), as
 * words in the chunks of that. Contract:
 * - runs in the transaction that counts them as cancelled, before the job may end with it;
 * - a report that does not count may be among them: a cancelled job is not sent to these devices by
 *   any claim, and one that was sent to before is in the reach too. Both count once.
 */

import { DEVICE_GROUP_KEY } from '../../../database/columns.ts';
import { octets, rowsOf, uuid } from '../../../database/rows.ts';
import type { Sql } from '../../../database/sql.ts';
import { GROUP_DEVICES, groupNumberOf } from '../../../domain/device.ts';
import type { DeviceGroupKey } from '../../../domain/device-group-change.ts';
import type { Progress } from '../../../domain/progress.ts';
import type { LockedNotification } from './lock-notifications.ts';

interface Rest extends DeviceGroupKey {
  readonly correctionId: string;
  readonly words: string;
}

/** Writes nothing for jobs without such a correction. */
export async function keepRest(
  sql: Sql,
  locked: readonly LockedNotification[],
  reports: readonly Progress[],
): Promise<void> {
  const corrections = new Map(
    locked.flatMap(({ id, restTo }) => (restTo === null ? [] : [[id, restTo] as const])),
  );
  if (corrections.size === 0) return;
  const rests = reports.flatMap((report) => {
    const correctionId = corrections.get(report.notificationId);
    return correctionId === undefined ? [] : restsIn(report, correctionId);
  });
  if (rests.length === 0) return;
  await sql`
    update chunks c set rest_words = coalesce(c.rest_words, '') || r.words
    from (
      select correction_id, app_id, platform_id, group_number, string_agg(words, ''::bytea) as words
      from ${given(sql, rests)}
      group by correction_id, app_id, platform_id, group_number
    ) r
    where c.notification_id = any (array[r.correction_id])
      and (c.app_id, c.platform_id, c.group_number) = (r.app_id, r.platform_id, r.group_number)`;
}

function restsIn(report: Progress, correctionId: string): readonly Rest[] {
  const { appId, platformId } = report;
  if (report.kind === 'chunk') {
    const { rest, groupNumber } = report;
    return rest === undefined
      ? []
      : [{ appId, platformId, groupNumber, correctionId, words: rest }];
  }
  return report.settlements.flatMap(({ ordinal, ending }) =>
    ending === 'cancelled'
      ? [
          {
            appId,
            platformId,
            groupNumber: groupNumberOf(ordinal),
            correctionId,
            words: wordOf(ordinal),
          },
        ]
      : [],
  );
}

/** The word of one device is its offset in its group (push/worker/chunk/reach.ts). */
const wordOf = (ordinal: number): string => (ordinal % GROUP_DEVICES).toString(16).padStart(4, '0');

const given = rowsOf<Rest>('given', {
  correction_id: uuid(({ correctionId }) => correctionId),
  ...DEVICE_GROUP_KEY,
  words: octets(({ words }) => words),
});
