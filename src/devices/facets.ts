/** Applies what is to be known of a device to the facets that it has: one of each attribute. */

import type { FacetId } from '../domain/attributes.ts';
import { sortNumbers } from '../std/sort-numbers.ts';

/** The facets that a device is to have, by the ids of their attributes; null: no value. */
export type WantedFacets = ReadonlyMap<number, FacetId | null>;

/** The one map that says nothing: compare with it. */
export const NO_FACETS: WantedFacets = new Map();

/** The attribute of a facet; undefined: the value is gone, and its device loses it. */
type AttributeOf = (facetId: FacetId) => number | undefined;

export interface FacetsAfter {
  /** Sorted. */
  readonly facetIds: readonly FacetId[];
  readonly gained: readonly FacetId[];
  readonly lost: readonly FacetId[];
}

const NONE: readonly FacetId[] = [];

/** Most devices: nothing is said of them. */
export const SAME_FACETS: FacetsAfter = { facetIds: NONE, gained: NONE, lost: NONE };

/** Whether the device has all that it is to have. Values to be cleared are looked at elsewhere. */
export function hasAll(before: readonly FacetId[], wanted: WantedFacets): boolean {
  for (const facetId of wanted.values()) {
    if (facetId === null ? before.length > 0 : !before.includes(facetId)) return false;
  }
  return true;
}

export function facetsAfter(
  before: readonly FacetId[],
  wanted: WantedFacets,
  attributeOf: AttributeOf,
): FacetsAfter {
  if (hasAll(before, wanted)) return { facetIds: before, gained: NONE, lost: NONE };
  const lost = before.filter((facetId) => isLost(facetId, wanted, attributeOf));
  const gained: FacetId[] = [];
  for (const facetId of wanted.values()) {
    if (facetId !== null && !before.includes(facetId)) gained.push(facetId);
  }
  const kept = lost.length === 0 ? before : before.filter((facetId) => !lost.includes(facetId));
  const facetIds = gained.length === 0 ? kept : sortNumbers([...kept, ...gained]);
  return { facetIds, gained, lost };
}

function isLost(facetId: FacetId, wanted: WantedFacets, attributeOf: AttributeOf): boolean {
  const attributeId = attributeOf(facetId);
  if (attributeId === undefined) return true;
  const value = wanted.get(attributeId);
  return value !== undefined && value !== facetId;
}

/** The facets of two devices that become one; of an attribute that both have, the first one's. */
export function facetsOfBoth(
  first: readonly FacetId[],
  second: readonly FacetId[],
  attributeOf: AttributeOf,
): FacetsAfter {
  const known = new Set(first.map(attributeOf));
  const gained = second.filter((facetId) => {
    const attributeId = attributeOf(facetId);
    return attributeId !== undefined && !known.has(attributeId);
  });
  return { facetIds: sortNumbers([...first, ...gained]), gained, lost: NONE };
}
