/** The first stage of a registration: finds out whether it changes anything. Most do not. */

import { attributesOfFacets } from '../../attributes/attributes-of-facets.ts';
import { livingTags } from '../../catalogue/subscribable-tags.ts';
import type { DedicatedConnection } from '../../database/dedicated-connection.ts';
import type { ChangedDevice, DeviceOperations } from '../batch.ts';
import { findDevices } from '../sql/find-devices.ts';
import type { FacetAttributes } from './facet-attributes.ts';
import type { JudgeLimits } from './judge.ts';
import { isWritten, judge, makeRoom, tagsAskedFor } from './judge.ts';
import type { RecentChanges } from './recent-changes.ts';

export interface LookContext extends JudgeLimits {
  readonly connection: DedicatedConnection;
  readonly recentChanges: RecentChanges;
  readonly facetAttributes: FacetAttributes;
}

/** Looks at all of the devices; those with very many tags are read one part after the other. */
export async function lookAtAll(
  context: LookContext,
  devices: readonly DeviceOperations[],
): Promise<readonly ChangedDevice[]> {
  const seen: ChangedDevice[] = [];
  while (seen.length < devices.length) {
    seen.push(...(await look(context, devices.slice(seen.length))));
  }
  return seen;
}

/**
 * Reads the devices, without locks, and applies their operations. Where recent batches changed
 * nothing, tags are left out at first: a `reg` that changes nothing if every tag is subscribable
 * changes nothing at all. A `set` takes off deleted tags, so it needs them.
 */
async function look(
  context: LookContext,
  devices: readonly DeviceOperations[],
): Promise<readonly ChangedDevice[]> {
  const { connection, recentChanges } = context;
  const isGuessed = !recentChanges.areLikely && !devices.some(hasSet);
  if (isGuessed) {
    const seen = await lookOnce(context, devices, null);
    if (!seen.some((device) => isWritten(device) || device.tags.isLimited)) return seen;
  }
  const tagIds = tagsAskedFor(devices);
  const seen = await lookOnce(context, devices, tagIds);
  // A wrong guess counts as a change: an app that always names a deleted tag would cost each batch
  // a second read.
  recentChanges.note(isGuessed || seen.some(isWritten));
  return await makeRoom(context, seen, (had) =>
    connection.transactAtOnce((tx) => livingTags(tx, had)),
  );
}

async function lookOnce(
  context: LookContext,
  devices: readonly DeviceOperations[],
  tagIds: readonly number[] | null,
): Promise<readonly ChangedDevice[]> {
  const { connection, facetAttributes } = context;
  const seen = await connection.transactAtOnce((tx) =>
    judge(tx, context, devices, findDevices, tagIds),
  );
  return await facetAttributes.judge(seen, (had) =>
    connection.transactAtOnce((tx) => attributesOfFacets(tx, had)),
  );
}

const hasSet = ({ operations }: DeviceOperations): boolean =>
  operations.some(({ kind }) => kind === 'set');
