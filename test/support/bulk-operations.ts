/** A client whose devices bulk operations change, without HTTP, and what became of them. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import type { SqlPool } from '../../src/database/sql.ts';
import type { Store } from '../../src/database/store.ts';
import { BulkOperations } from '../../src/devices/bulk/bulk-operations.ts';
import type { NewBulkOperation } from '../../src/devices/sql/insert-operation.ts';
import { insertBulkOperation } from '../../src/devices/sql/insert-operation.ts';
import { readBulkOperation } from '../../src/devices/sql/read-operations.ts';
import type { BulkChange } from '../../src/domain/bulk-operation.ts';
import { deviceKeyOf } from '../../src/domain/device.ts';
import type { IndexFeed } from '../../src/tag-index/tag-index.ts';
import { NO_FEED } from '../../src/tag-index/tag-index.ts';
import { silent } from './app-api.ts';
import { missingGroupTags, wrongCounts } from './subscriber-counts.ts';
import { makeTenant } from './tenant.ts';

export const nodeOn = (sql: SqlPool, feed: IndexFeed = NO_FEED, tagsPerDeviceMax = 5_000) =>
  new BulkOperations({ sql, feed, log: silent, tagsPerDeviceMax });

export async function openBulkScene({ sql }: Pick<Store, 'sql'>, slug = 'acme') {
  const tenant = await makeTenant(sql, slug);
  const { clientId, appId } = tenant;
  const shared = { clientId, userName: 'test', listed: null, appIds: null, total: 0 };
  const insert = (
    operation: Omit<NewBulkOperation, keyof typeof shared> & Partial<NewBulkOperation>,
  ) => insertBulkOperation(sql, { ...shared, ...operation });
  const ofList = (change: Partial<BulkChange>, deviceIds: readonly string[], platformId = 15) =>
    insert({
      action: change.subscribe === undefined ? 'unsubscribe' : 'subscribe',
      subscribe: change.subscribe ?? [],
      unsubscribe: change.unsubscribe ?? [],
      memberOf: null,
      listed: { appId, platformId, deviceKeys: deviceIds.map(deviceKeyOf) },
      total: deviceIds.length,
    });
  return {
    ...tenant,
    subscribe: (tagIds: readonly number[], deviceIds: readonly string[]) =>
      ofList({ subscribe: tagIds }, deviceIds),
    unsubscribe: (tagIds: readonly number[], deviceIds: readonly string[]) =>
      ofList({ unsubscribe: tagIds }, deviceIds),
    copy: (from: number, to: number) =>
      insert({ action: 'copy', memberOf: from, subscribe: [to], unsubscribe: [] }),
    move: (from: number, to: number) =>
      insert({ action: 'move', memberOf: from, subscribe: [to], unsubscribe: [from] }),
    remove: (from: number) =>
      insert({ action: 'remove', memberOf: from, subscribe: [], unsubscribe: [from] }),
    async read(id: number) {
      const operation = await readBulkOperation(sql, { clientId, userName: null }, id);
      if (operation === null) throw new Error(`no operation ${id}`);
      return operation;
    },
  };
}

/** Devices with a tag, by app and platform. */
export const membersOf = async (sql: SqlPool, tagId: number) =>
  Object.fromEntries(
    (
      await sql<{ scope: string; devices: number }[]>`
        select app_id || '/' || platform_id as scope, count(*) as devices from devices
        where tag_ids @> array[${tagId}::integer] group by 1`
    ).map(({ scope, devices }) => [scope, devices]),
  );

/** Runs pieces until nothing is due, but for what has failed; answers how many. */
export async function runAll(sql: SqlPool, node: BulkOperations): Promise<number> {
  let pieces = 0;
  while (await rested(sql)) pieces += Number(await node.runPiece());
  return pieces;
}

/** Waits until the next operation has had its rest. False: there is none, but for failed ones. */
export async function rested(sql: SqlPool): Promise<boolean> {
  const [row] = await sql<{ restMs: number | null }[]>`
    select (extract(epoch from min(due_at) - clock_timestamp()) * 1000)::float8 as "restMs" from bulk_operations o
    where ended_at is null and not exists (
      select from bulk_operations where client_id = o.client_id and ended_at is null and id < o.id
    )`;
  const restMs = row?.restMs ?? null;
  if (restMs === null || restMs > RESTS_MS_MAX) return false;
  await sleep(Math.max(0, restMs));
  return true;
}

/** An operation that failed rests for 10 s. */
const RESTS_MS_MAX = 9_000;

export async function checkTruth(t: Test, sql: SqlPool): Promise<void> {
  t.same([...(await wrongCounts(sql))], [], 'the counts by day are those of the devices');
  t.same([...(await missingGroupTags(sql))], [], 'every group is known to have its tags');
}

export const names = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, n) => `${prefix}${n}`);
