/**
 * Applies the attributes of a file to devices. As with the version of the app, the later
 * registration wins: a file that is older only adds what a device does not have.
 */

import { attributesOfFacets } from '../../attributes/attributes-of-facets.ts';
import type { Sql } from '../../database/sql.ts';
import type { FacetId } from '../../domain/attributes.ts';
import { attributeOfEntry } from '../../domain/device-numbers.ts';
import type { FacetsAfter } from '../facets.ts';
import { facetsAfter, NO_FACETS, SAME_FACETS } from '../facets.ts';
import { livingWanted } from '../living-wanted.ts';
import type { NumbersAfter } from '../numbers.ts';
import { NO_NUMBERS, numbersAfter } from '../numbers.ts';
import type { KnownImported } from '../sql/import-devices.ts';
import type { ImportedOperation } from './imported.ts';

/** The facets of a device after the import. Undefined: it is new. */
type FacetsOf = (at: number, known: KnownImported | undefined) => FacetsAfter;

/** Call it after the locks. Nothing is read where the file says nothing. */
export async function facetsOfImport(
  tx: Sql,
  operations: readonly ImportedOperation[],
  known: readonly KnownImported[],
): Promise<FacetsOf> {
  if (operations.every(({ facets }) => facets === NO_FACETS)) return () => SAME_FACETS;
  const wanted = await livingWanted(
    tx,
    operations.map(({ facets }) => facets),
  );
  const attributes = await attributesOfFacets(tx, [
    ...new Set(known.flatMap(({ facetIds }) => facetIds)),
  ]);
  const attributeOf = (facetId: FacetId) => attributes.get(facetId);
  return (at, device) => {
    const facets = wanted[at] ?? NO_FACETS;
    if (device === undefined) return facetsAfter([], facets, attributeOf);
    // A device that has unsubscribed since the import began stays as it is.
    if (device.hasUnsubscribed || facets.size === 0) return SAME_FACETS;
    if (device.isOlder) return facetsAfter(device.facetIds, facets, attributeOf);
    const missing = without(facets, new Set(device.facetIds.map(attributeOf)));
    return facetsAfter(device.facetIds, missing, attributeOf);
  };
}

/** The numbers of a device after the import. Undefined: it is new. */
export function numbersOfImport(
  { numbers }: ImportedOperation,
  known: KnownImported | undefined,
): NumbersAfter {
  if (known === undefined) return numbersAfter([], numbers);
  if (known.hasUnsubscribed || numbers.size === 0) return numbersAfter(known.numbers, NO_NUMBERS);
  if (known.isOlder) return numbersAfter(known.numbers, numbers);
  return numbersAfter(
    known.numbers,
    without(numbers, new Set(known.numbers.map(attributeOfEntry))),
  );
}

const without = <T>(
  wanted: ReadonlyMap<number, T>,
  attributeIds: ReadonlySet<number | undefined>,
): ReadonlyMap<number, T> =>
  new Map([...wanted].filter(([attributeId]) => !attributeIds.has(attributeId)));
