/** A piece of a bulk operation that sets attributes: of each device all of them, or none. */

import { attributesOfFacets } from '../../attributes/attributes-of-facets.ts';
import { livingAttributes } from '../../attributes/living-attributes.ts';
import { livingFacets } from '../../attributes/living-facets.ts';
import type { Sql } from '../../database/sql.ts';
import type { FacetId } from '../../domain/attributes.ts';
import type { BulkCounts, BulkOutcome } from '../../domain/bulk-operation.ts';
import { NO_ATTRIBUTES } from '../../domain/device-attributes.ts';
import type { DeviceGroupChange } from '../../domain/device-group-change.ts';
import { changesOf, deviceGroupOf } from '../../domain/device-group-change.ts';
import { touchedDeviceGroups } from '../../statistics/record-changes.ts';
import { BULK_SLOT } from '../../statistics/slots.ts';
import type { FacetsAfter } from '../facets.ts';
import { facetsAfter } from '../facets.ts';
import type { NumbersAfter, WantedNumbers } from '../numbers.ts';
import { numbersAfter } from '../numbers.ts';
import type { DeviceKey, KnownDevice } from '../sql/find-devices.ts';
import { ALL_VALUES, lockDevices } from '../sql/find-devices.ts';
import type { TakenBulkOperation } from '../sql/take-piece.ts';
import { writeBatch } from '../sql/write-batch.ts';

interface ChangedFacets {
  readonly counts: BulkCounts;
  readonly changes: readonly DeviceGroupChange[];
}

interface Changed {
  readonly device: DeviceKey;
  readonly known: KnownDevice;
  readonly facets: FacetsAfter;
  readonly numbers: NumbersAfter;
}

export async function changeFacets(
  tx: Sql,
  { deviceFacets, deviceNumbers, isAppThere }: TakenBulkOperation,
  devices: readonly DeviceKey[],
): Promise<ChangedFacets> {
  const columns = deviceNumbers === null ? { ...ALL_VALUES, numbers: false } : ALL_VALUES;
  const found =
    isAppThere && devices.length > 0 ? await lockDevices(tx, devices, 0, columns) : { devices: [] };
  const wanted = devices.map((_, at) => new Map(deviceFacets?.[at] ?? []));
  const given = wanted.flatMap((facets) => [...facets.values()].filter(isFacet));
  // After the locks: an attribute may have been deleted during the wait for them.
  const living = await livingFacets(tx, given);
  const numbersOf = (at: number) => new Map(deviceNumbers?.[at] ?? []);
  const numbered = new Set(devices.flatMap((_, at) => attributesSet(numbersOf(at))));
  const livingNumbers = deviceNumbers === null ? NONE : await livingAttributes(tx, [...numbered]);
  const had = [...new Set(found.devices.flatMap(({ facetIds }) => facetIds))];
  const attributeOf = await attributesOfFacets(tx, had);
  const knownAt = new Map(found.devices.map((device) => [device.index, device]));
  const counts = { changed: 0, unchanged: 0, unknown: 0, full: 0, refused: 0 };
  const changed: Changed[] = [];
  for (const [at, device] of devices.entries()) {
    const known = knownAt.get(at) ?? null;
    const facetsWanted = wanted[at] ?? new Map<number, FacetId | null>();
    const numbersWanted = numbersOf(at);
    const isAlive =
      [...facetsWanted.values()].filter(isFacet).every((id) => living.has(id)) &&
      attributesSet(numbersWanted).every((id) => livingNumbers.has(id));
    const after =
      known === null || !isAlive
        ? null
        : {
            known,
            facets: facetsAfter(known.facetIds, facetsWanted, (id) => attributeOf.get(id)),
            numbers: numbersAfter(known.numbers, numbersWanted),
          };
    counts[outcomeOf(known, after)] += 1;
    if (after !== null && isChange(after)) changed.push({ device, ...after });
  }
  return { counts, changes: await write(tx, changed) };
}

const isFacet = (facetId: FacetId | null): facetId is FacetId => facetId !== null;

/** The attributes that it sets; those that it clears may be gone. */
const attributesSet = (wanted: WantedNumbers): readonly number[] =>
  [...wanted].flatMap(([attributeId, entry]) => (entry === null ? [] : [attributeId]));

const NONE: ReadonlySet<number> = new Set();

type After = Pick<Changed, 'facets' | 'numbers'>;

const isChange = ({ facets, numbers }: After): boolean => haveChanged(facets) || numbers.isChanged;

const haveChanged = ({ gained, lost }: FacetsAfter): boolean => gained.length + lost.length > 0;

function outcomeOf(known: KnownDevice | null, after: After | null): BulkOutcome {
  if (known === null) return 'unknown';
  if (after === null) return 'refused';
  return isChange(after) ? 'changed' : 'unchanged';
}

async function write(tx: Sql, devices: readonly Changed[]): Promise<readonly DeviceGroupChange[]> {
  if (devices.length === 0) return [];
  const edits = devices
    .filter(({ facets }) => haveChanged(facets))
    .map(({ device: { appId, platformId }, known, facets }) => ({
      appId,
      platformId,
      ordinal: known.ordinal,
      gained: facets.gained,
      lost: facets.lost,
    }));
  const raised = await writeBatch(tx, {
    updated: devices.map(({ device: { appId, platformId }, known, facets, numbers }) => ({
      appId,
      platformId,
      ordinal: known.ordinal,
      version: known.version,
      registers: false,
      unsubscribes: false,
      attributes: NO_ATTRIBUTES,
      tagIds: null,
      facetIds: facets.facetIds,
      numbers: numbers.isChanged ? numbers.numbers : null,
    })),
    inserted: [],
    changes: [],
    groups: touchedDeviceGroups([], edits.map(deviceGroupOf)),
    slot: BULK_SLOT,
  });
  return changesOf(raised, { tags: edits });
}
