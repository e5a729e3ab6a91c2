/**
 * Connects tags to apps that they were disconnected from, once housekeeping has taken them off the
 * devices there: so it does not matter when that was.
 */

import type { Sql } from '../database/sql.ts';
import type { Outcome } from './outcome.ts';
import { done, refused } from './outcome.ts';
import { findLeaving } from './sql/removals.ts';

/** Takes disconnected tags off devices now; what exceeds a piece is left to housekeeping. */
export type TakeOff = (tagIds: readonly number[]) => Promise<void>;

/** Whether devices of the apps may have the tags still. `appIds` null: all but `connected`. */
export async function checkReconnection(
  tx: Sql,
  clientId: number,
  tagIds: readonly number[],
  appIds: readonly number[] | null,
  connected: readonly number[] = [],
): Promise<Outcome<null>> {
  const leaving = await findLeaving(tx, clientId, { tagIds, appIds, but: connected });
  return leaving === null ? done(null) : refused({ kind: 'leaving', tagIds, ...leaving });
}

/** Connects, and once more when devices have lost what they had of the tags. */
export const connectAfterLeaving =
  <Asked, T>(takeOff: TakeOff, connect: (asked: Asked) => Promise<Outcome<T>>) =>
  async (asked: Asked): Promise<Outcome<T>> => {
    const first = await connect(asked);
    if (first.ok || first.refusal.kind !== 'leaving') return first;
    await takeOff(first.refusal.tagIds);
    return connect(asked);
  };
