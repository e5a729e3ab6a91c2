/** Walks over every group of the index, to compare it with the database or to rebuild it. */

import type { Sql } from '../../database/sql.ts';
import type { RaisedDeviceGroup } from '../../domain/device-group-change.ts';
import { deviceGroupKeyOf } from '../../domain/device-group-change.ts';
import { BEFORE_ALL, countDeviceGroups, listDeviceGroups } from '../groups/list-device-groups.ts';
import { compareGroup } from './compare-group.ts';
import type { RedisClient } from './connect.ts';
import { PREFIX } from './keys.ts';
import { loadGroup } from './load-group.ts';

export interface MaintainedIndex {
  readonly sql: Sql;
  readonly client: RedisClient;
  readonly indexName: string;
}

export interface Walked {
  readonly groups: number;
  readonly groupsTotal: number;
  readonly devices: number;
}

interface Verified extends Walked {
  readonly stale: number;
  readonly wrong: number;
}

const LIST_MAX = 1_000;
/** Groups at a time: the database reads some while Redis writes others. */
const AT_ONCE = 4;
/** Keys in one answer of SCAN. */
const SCAN_COUNT = 1_000;

/** Compares all groups; calls `onDifference` with a sentence for each difference. */
export async function verifyIndex(
  { sql, client, indexName }: MaintainedIndex,
  onDifference: (sentence: string) => void,
  onProgress: (walked: Walked) => void,
): Promise<Verified> {
  let stale = 0;
  let wrong = 0;
  const walked = await walk(sql, onProgress, async (group) => {
    const { devices, isStale, differences } = await compareGroup(sql, client, indexName, group);
    const place = `app ${group.appId} on ${group.platformId}, group ${group.groupNumber}`;
    if (isStale) {
      stale += 1;
      onDifference(`${place}: is not current; the database answers for it`);
    }
    if (differences.length > 0) wrong += 1;
    for (const difference of differences) onDifference(`${place}: ${difference}`);
    return devices;
  });
  return { ...walked, stale, wrong };
}

/** Rebuilds every group. */
export const rebuildIndex = (
  { sql, client, indexName }: MaintainedIndex,
  onProgress: (walked: Walked) => void,
): Promise<Walked> =>
  walk(sql, onProgress, async (group) => {
    const { devices } = await loadGroup(sql, client, indexName, group, { isForced: true });
    return devices;
  });

/** Deletes keys of other indexes, or of this database before it was restored; answers how many. */
export async function dropOtherIndexes({ client, indexName }: MaintainedIndex): Promise<number> {
  const own = `${PREFIX}${indexName}:`;
  let dropped = 0;
  for (const node of 'nodes' in client ? client.nodes('master') : [client]) {
    for await (const keys of node.scanStream({ match: `${PREFIX}*`, count: SCAN_COUNT })) {
      const others = (keys as string[]).filter((key) => !key.startsWith(own));
      // One by one: keys of a cluster lie in different slots.
      await Promise.all(others.map((key) => node.unlink(key)));
      dropped += others.length;
    }
  }
  return dropped;
}

/** `visit` answers how many devices the group has. */
async function walk(
  sql: Sql,
  onProgress: (walked: Walked) => void,
  visit: (group: RaisedDeviceGroup) => Promise<number>,
): Promise<Walked> {
  const groupsTotal = await countDeviceGroups(sql);
  const walked = { groups: 0, groupsTotal, devices: 0 };
  let after: RaisedDeviceGroup | typeof BEFORE_ALL | undefined = BEFORE_ALL;
  while (after !== undefined) {
    const groups: readonly RaisedDeviceGroup[] = await listDeviceGroups(sql, after, LIST_MAX);
    const queue = groups.values();
    const visitAll = async (): Promise<void> => {
      for (const group of queue) {
        const devices = await visit(group).catch((error: unknown) => {
          throw new Error(`group ${deviceGroupKeyOf(group)} failed`, { cause: error });
        });
        // Only after the wait: other visits have added their devices meanwhile.
        walked.devices += devices;
        walked.groups += 1;
        onProgress(walked);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, visitAll));
    after = groups.at(-1);
  }
  return walked;
}
