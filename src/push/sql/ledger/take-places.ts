/**
 * Takes places for the devices of a chunk before it is sent (decision 78): one group at a time,
 * over all jobs and nodes, so that no device gets more than its caps allow. A claim after a loss
 * finds what the one before it took.
 */

import { isLockTimeout } from '../../../database/faults.ts';
import type { SqlPool } from '../../../database/sql.ts';
import { transact } from '../../../database/transact.ts';
import type { DeviceGroupKey } from '../../../domain/device-group-change.ts';
import type { NotificationScope } from '../../../domain/notification.ts';
import type { CapTerms } from '../../../domain/policies.ts';
import { noDevices } from './reach-words.ts';
import { agesOf, fullDevices, readPlaces } from './read-places.ts';

export interface WantedPlaces extends NotificationScope, DeviceGroupKey {
  /** The epoch of the claim. */
  readonly epoch: number;
  readonly caps: CapTerms;
  /** The devices that are to be sent to, as bits. */
  readonly wanted: Uint8Array;
  /** Says which devices these bits are, in hexadecimal digits of words. Null: none. */
  readonly wordsOf: (bits: Uint8Array) => string | null;
}

/**
 * Other jobs hold it for milliseconds.
 * @limit wait for the places of a device group → its chunk is given back
 */
const LOCK_MS_MAX = 2_000;

/** Null: another claim has the chunk. `busy`: others hold the group for too long. */
export type TakenPlaces = Uint8Array | 'busy' | null;

/** Those of the wanted devices that have a place, as bits. */
export async function takePlaces(sql: SqlPool, asked: WantedPlaces): Promise<TakenPlaces> {
  try {
    return await takeLocked(sql, asked);
  } catch (error) {
    if (isLockTimeout(error)) return 'busy';
    throw error;
  }
}

const takeLocked = (sql: SqlPool, asked: WantedPlaces): Promise<Uint8Array | null> =>
  transact(sql, async (tx) => {
    const { notificationId, appId, platformId, groupNumber, epoch, caps, wanted } = asked;
    // The next statement sees what was committed before this one has returned.
    await tx`
      select set_config('lock_timeout', ${String(LOCK_MS_MAX)}, true), pg_advisory_xact_lock(
        hashtextextended(${`caps ${appId} ${platformId} ${groupNumber}`}::text, 0)
      )`;
    const [places, held] = await Promise.all([
      readPlaces(tx, asked, { notificationId, ...agesOf(caps) }),
      tx`
        select from chunks
        where notification_id = ${notificationId}::uuid and app_id = ${appId}
          and platform_id = ${platformId} and group_number = ${groupNumber} and epoch = ${epoch}`,
    ]);
    if (held.count === 0) return null;
    const others = places.filter((one) => one.notificationId !== notificationId);
    const own = takenOf(places.filter((one) => one.notificationId === notificationId));
    const full = fullDevices(caps, others);
    const allowed = wanted.map((octet, at) => octet & ((own[at] ?? 0) | ~(full[at] ?? 0)));
    const words = asked.wordsOf(allowed.map((octet, at) => octet & ~(own[at] ?? 0)));
    if (words !== null) {
      await tx`
        insert into cap_places as p
          (app_id, platform_id, group_number, notification_id, category, taken)
        values (
          ${appId}, ${platformId}, ${groupNumber}, ${notificationId}::uuid, ${caps.category},
          decode(${words}, 'hex')
        )
        on conflict (app_id, platform_id, group_number, notification_id)
          do update set taken = p.taken || excluded.taken, last_at = excluded.last_at`;
    }
    return allowed;
  });

function takenOf(own: readonly { readonly taken: Uint8Array }[]): Uint8Array {
  const sum = noDevices();
  for (const { taken } of own) {
    for (const [at, octet] of taken.entries()) sum[at] = (sum[at] ?? 0) | octet;
  }
  return sum;
}
