/**
 * Takes the values of deleted attributes off devices, and deletes values that no device has any
 * more. It walks through the devices of one client after the other, a bounded piece in a run, on
 * any node: what two nodes do, or one does again after its death, is done once.
 */

import type { UpkeepJob, UpkeepRun } from '../database/upkeep-job.ts';
import type { FacetId } from '../domain/attributes.ts';
import type { DeviceGroupKey } from '../domain/device-group-change.ts';
import { BEFORE_ALL } from '../tag-index/groups/list-device-groups.ts';
import type { IndexFeed } from '../tag-index/tag-index.ts';
import type { Candidate, FullAttribute } from './sql/unused-facets.ts';
import {
  facetsInGroups,
  fullAttributes,
  nextCandidates,
  nextGroups,
  removeFacets,
  settleFacets,
} from './sql/unused-facets.ts';

/**
 * @publisherLimit a value of an attribute that no device has and no caller sets is kept for →
 * deleted
 */
const UNUSED_MS = 30 * 86_400_000;
/**
 * A new value of it would have to wait for a month.
 * @publisherLimit the same, of an attribute that has as many values as it may → deleted
 */
const FULL_UNUSED_MS = 86_400_000;
/**
 * Nodes remember values for ten minutes (AGE_MS_MAX of facet-dictionary.ts), and what they look up
 * is retired no more.
 * @limit an unused value of an attribute stays retired for → deleted
 */
const RETIRED_MS = 3_600_000;
/** @limit a deleted attribute is taken off devices after, when no node takes it for declared */
const DELETED_MS = 300_000;
/** @limit values of attributes that one walk through a client's devices looks for → the next walk */
const CANDIDATES_MAX = 1_000;
/**
 * Some 10 ms of the database's time each.
 * @limit groups searched for values of attributes in a run of housekeeping → the next run
 */
const GROUPS_MAX = 20;
/** @limit attributes without room that a look knows → the others keep unused values for 30 days */
const FULL_MAX = 1_000;
/** @limit devices that lose values of deleted attributes in one transaction → the next one */
const CLEARED_MAX = 1_000;
/** A group has 8,192 devices. */
const TRANSACTIONS_MAX = GROUPS_MAX * 10 + 1;
/** @limit between two looks for values of attributes that may go */
const LOOK_INTERVAL_MS = 600_000;

interface Walk {
  readonly clientId: number;
  readonly candidates: readonly Candidate[];
  readonly found: Set<FacetId>;
  readonly ages: Parameters<typeof nextCandidates>[2];
  after: DeviceGroupKey;
}

export function unusedValues(feed: IndexFeed): UpkeepJob {
  let walk: Walk | null = null;
  let afterClientId = 0;
  /** Read once for all clients: it counts all values. */
  let full: readonly FullAttribute[] = [];
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  return {
    name: 'unused values of attributes',
    transactionsMax: TRANSACTIONS_MAX,
    async run(run) {
      if (walk === null && run.nowMs - lookedAtMs < LOOK_INTERVAL_MS) return;
      if (walk === null && afterClientId === 0) full = await fullAttributes(run.sql, FULL_MAX);
      walk ??= await begin(run, afterClientId, full);
      if (walk === null) {
        // After the last client comes the first one, at the next look.
        afterClientId = 0;
        lookedAtMs = run.nowMs;
        return;
      }
      if (!(await goOn(run, walk, feed))) return;
      afterClientId = walk.clientId;
      walk = null;
    },
  };
}

async function begin(
  { sql, nowMs }: UpkeepRun,
  afterClientId: number,
  full: readonly FullAttribute[],
): Promise<Walk | null> {
  const ages = {
    unusedSinceMs: nowMs - UNUSED_MS,
    fullUnusedSinceMs: nowMs - FULL_UNUSED_MS,
    retiredSinceMs: nowMs - RETIRED_MS,
    deletedSinceMs: nowMs - DELETED_MS,
  };
  const candidates = await nextCandidates(sql, afterClientId, ages, full, CANDIDATES_MAX);
  const [first] = candidates;
  if (first === undefined) return null;
  return { clientId: first.clientId, candidates, found: new Set(), ages, after: BEFORE_ALL };
}

/** Answers whether the walk has ended. */
async function goOn({ sql, budget }: UpkeepRun, walk: Walk, feed: IndexFeed): Promise<boolean> {
  const { candidates, found } = walk;
  const groups = await nextGroups(sql, walk.clientId, walk.after, GROUPS_MAX);
  const last = groups.at(-1);
  if (last === undefined) {
    if (!budget.take()) return false;
    await settleFacets(sql, { ...settled(walk), ages: walk.ages });
    return true;
  }
  const dead = new Set(candidates.filter(({ isDead }) => isDead).map(({ id }) => id));
  const ids = candidates.map(({ id }) => id).filter((id) => !found.has(id));
  for (const { facetIds, ...group } of await facetsInGroups(sql, groups, ids)) {
    for (const facetId of facetIds) if (!dead.has(facetId)) found.add(facetId);
    const unwanted = facetIds.filter((facetId) => dead.has(facetId));
    let cleared = unwanted.length === 0 ? 0 : CLEARED_MAX;
    while (cleared === CLEARED_MAX) {
      // The next run searches these groups again.
      if (!budget.take()) return false;
      const { devices, changes } = await removeFacets(sql, group, unwanted, CLEARED_MAX);
      await feed.apply(changes);
      cleared = devices;
    }
  }
  walk.after = last;
  return false;
}

function settled({ candidates, found }: Walk) {
  const ids = (isOne: (candidate: Candidate) => boolean) =>
    candidates.filter(isOne).map(({ id }) => id);
  const isUnused = ({ id, isDead, isRetired }: Candidate) =>
    !isDead && !isRetired && !found.has(id);
  return {
    used: [...found],
    unused: ids(isUnused),
    ofFull: ids((candidate) => candidate.isOfFull && isUnused(candidate)),
    gone: ids(({ id, isDead, isRetired }) => !isDead && isRetired && !found.has(id)),
    dead: ids(({ isDead }) => isDead),
  };
}
