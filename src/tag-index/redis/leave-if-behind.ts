/** Notices a database that lacks changes which Redis has: versions prove nothing any more. */

import type { Logger } from 'pino';
import type { SqlPool } from '../../database/sql.ts';
import type { RaisedDeviceGroup } from '../../domain/device-group-change.ts';
import { deviceGroupKeyOf } from '../../domain/device-group-change.ts';
import { leaveIndex } from '../groups/lineage.ts';
import { readVersions } from '../groups/list-device-groups.ts';
import type { IndexName } from './index-name.ts';

export interface HistoryOptions {
  readonly name: IndexName;
  readonly sql: SqlPool;
  readonly log: Logger;
}

/** Leaves the index if the database is older than Redis' versions (`seen`); answers whether so. */
export async function leaveIfBehind(
  { name, sql, log }: HistoryOptions,
  indexName: string,
  seen: readonly RaisedDeviceGroup[],
): Promise<boolean> {
  if (seen.length === 0) return false;
  const now = await readVersions(sql, seen);
  const versionByKey = new Map(now.map((group) => [deviceGroupKeyOf(group), group.version]));
  const isBehind = seen.some(
    (group) => (versionByKey.get(deviceGroupKeyOf(group)) ?? 0) < group.version,
  );
  if (!isBehind) return false;
  const isLeft = await leaveIndex(sql, indexName);
  await name.reread();
  if (isLeft) log.warn('the database lacks changes that Redis has: a new index is built');
  return true;
}
