/**
 * Erases the devices that a provider no longer knows. It happens after their outcomes are recorded and outside of that
 * transaction: what is lost by a crash in between is found again by the next send.
 */

import type { Logger } from 'pino';
import type { Progress } from '../domain/progress.ts';
import { eraseDevices } from '../store/devices/erase-devices.ts';
import type { SqlPool } from '../store/sql.ts';

/** Erases the dead tokens of some reports, unless they registered again since. */
export async function eraseDeadTokens(
  sql: SqlPool,
  log: Logger,
  reports: readonly Progress[],
): Promise<void> {
  const devices = reports.flatMap(({ appId, platformId, deadTokens }) =>
    deadTokens.map((token) => ({ appId, platformId, ...token })),
  );
  if (devices.length === 0) return;
  try {
    await eraseDevices(sql, devices);
  } catch (error) {
    log.warn({ err: error, devices: devices.length }, 'dead tokens were not erased');
  }
}
