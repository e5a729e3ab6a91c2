/** Finds the moments of a push at local time: those of the zones that devices have. */

import { localMsOf } from '../../../packages/std/src/local-time.ts';
import { zonesOf } from '../../attributes/zones-of.ts';
import { readPolicies } from '../../clients/policies.ts';
import type { Sql } from '../../database/sql.ts';
import { arranged, momentsOf, WAVES_MAX } from '../../domain/waves.ts';
import type { Push, PushFault } from './push.ts';

interface TimedPush {
  readonly push: Push;
  /** A repeated request ignores them: time has gone by since. */
  readonly faults: readonly PushFault[];
}

/** A push at local time with its moments; any other as it is. */
export async function withWaves(sql: Sql, clientId: number, push: Push): Promise<TimedPush> {
  const { localTime, expiresAtMs } = push;
  if (localTime === undefined) return { push, faults: [] };
  const { sendAtLocal, sendsLate } = localTime;
  const [zones, { timezone }] = await Promise.all([
    zonesOf(sql, clientId),
    readPolicies(sql, clientId),
  ]);
  const found = momentsOf(localMsOf(sendAtLocal) ?? 0, zones, timezone);
  const moments = arranged(found, { sendsLate, nowMs: Date.now(), max: WAVES_MAX });
  const first = moments.find(({ isSkipped }) => !isSkipped);
  if (first === undefined) return { push, faults: [PASSED] };
  return {
    push: { ...push, sendAtMs: first.atMs, waves: { ...localTime, moments } },
    faults: expiresAtMs !== null && expiresAtMs <= first.atMs ? [endsBefore(first.atMs)] : [],
  };
}

const endsBefore = (firstMs: number): PushFault => ({
  path: 'expiresAt',
  message: `must be later than the first wave, ${new Date(firstMs).toISOString()}.`,
});

const PASSED: PushFault = {
  path: 'sendAtLocal',
  message: 'has passed in every time zone of the devices; with late: send they get it at once.',
};
