/**
 * Takes the numbers and times of deleted attributes off devices. It walks through the devices of
 * one client after the other, a bounded piece in a run, on any node: what two nodes do, or one does
 * again after its death, is done once.
 */

import type { UpkeepJob, UpkeepRun } from '../database/upkeep-job.ts';
import type { DeviceGroupKey } from '../domain/device-group-change.ts';
import { BEFORE_ALL } from '../tag-index/groups/list-device-groups.ts';
import { nextDeletedNumbers, removeNumbers, settleNumbers } from './sql/deleted-numbers.ts';
import { nextGroups } from './sql/unused-facets.ts';

/**
 * @limit a deleted attribute with numbers is taken off devices after, when no node takes it for
 * declared
 */
const DELETED_MS = 300_000;
/** @limit deleted attributes with numbers that one walk takes off devices → the next walk */
const ATTRIBUTES_MAX = 100;
/**
 * Some 10 ms of the database's time each.
 * @limit groups searched for numbers of deleted attributes in a run of housekeeping → the next run
 */
const GROUPS_MAX = 20;
/** @limit devices that lose numbers of deleted attributes in one transaction → the next one */
const CLEARED_MAX = 1_000;
/** A group has 8,192 devices. */
const TRANSACTIONS_MAX = GROUPS_MAX * 10 + 1;

interface Walk {
  readonly clientId: number;
  readonly attributeIds: readonly number[];
  after: DeviceGroupKey;
}

export function deletedNumbers(): UpkeepJob {
  let walk: Walk | null = null;
  return {
    name: 'numbers of deleted attributes',
    transactionsMax: TRANSACTIONS_MAX,
    async run(run) {
      walk ??= await begin(run);
      if (walk !== null && (await goOn(run, walk))) walk = null;
    },
  };
}

async function begin({ sql, nowMs }: UpkeepRun): Promise<Walk | null> {
  const deleted = await nextDeletedNumbers(sql, nowMs - DELETED_MS, ATTRIBUTES_MAX);
  return deleted === null ? null : { ...deleted, after: BEFORE_ALL };
}

/** Answers whether the walk has ended. */
async function goOn({ sql, budget }: UpkeepRun, walk: Walk): Promise<boolean> {
  const { clientId, attributeIds } = walk;
  const groups = await nextGroups(sql, clientId, walk.after, GROUPS_MAX);
  const last = groups.at(-1);
  if (last === undefined) {
    if (!budget.take()) return false;
    await settleNumbers(sql, attributeIds);
    return true;
  }
  for (const group of groups) {
    const isClear = await budget.empty(CLEARED_MAX, () =>
      removeNumbers(sql, group, attributeIds, CLEARED_MAX),
    );
    // The next run goes on here.
    if (!isClear) return false;
    walk.after = group;
  }
  return false;
}
