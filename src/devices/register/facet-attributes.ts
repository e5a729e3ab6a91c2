/** Remembers the attribute of each facet, and applies facets to the devices of a batch. */

import { CappedMap } from '../../../packages/std/src/capped-map.ts';
import type { FacetId } from '../../domain/attributes.ts';
import type { ChangedDevice } from '../batch.ts';
import { facetsAfter, hasAll, NO_FACETS } from '../facets.ts';

/**
 * Some 150 octets each.
 * @limit facets whose attribute a node remembers → read again
 */
const FACETS_MAX = 100_000;

/** Reads the attributes of facets; of one that is gone, none. */
type ReadAttributes = (facetIds: readonly FacetId[]) => Promise<ReadonlyMap<FacetId, number>>;

export class FacetAttributes {
  /** Never wrong: ids are not reused. Null: the value is gone. */
  readonly #attributes: CappedMap<FacetId, number | null>;

  constructor(facetsMax = FACETS_MAX) {
    this.#attributes = new CappedMap({ sizeMax: facetsMax });
  }

  /**
   * The devices with what they gain and lose. Reads only where a device loses a value, or may lose
   * one, whose attribute is not known: a repetition needs nothing.
   */
  async judge(
    devices: readonly ChangedDevice[],
    read: ReadAttributes,
  ): Promise<readonly ChangedDevice[]> {
    const changing = devices.filter(mayChange);
    if (changing.length === 0) return devices;
    const had = new Set(changing.flatMap(({ known }) => known?.facetIds ?? []));
    const attributes = await this.#attributesOf([...had], read);
    const attributeOf = (facetId: FacetId) => attributes.get(facetId);
    const changed = new Map(
      changing.map((device) => {
        const facets = facetsAfter(device.known?.facetIds ?? [], device.change.facets, attributeOf);
        return [device, { ...device, facets }];
      }),
    );
    return devices.map((device) => changed.get(device) ?? device);
  }

  async #attributesOf(
    facetIds: readonly FacetId[],
    read: ReadAttributes,
  ): Promise<ReadonlyMap<FacetId, number>> {
    const attributes = new Map<FacetId, number>();
    const unknown: FacetId[] = [];
    for (const facetId of facetIds) {
      const attributeId = this.#attributes.get(facetId);
      if (attributeId === undefined) unknown.push(facetId);
      else if (attributeId !== null) attributes.set(facetId, attributeId);
    }
    if (unknown.length === 0) return attributes;
    const found = await read(unknown);
    for (const facetId of unknown) {
      const attributeId = found.get(facetId) ?? null;
      this.#attributes.set(facetId, attributeId);
      if (attributeId !== null) attributes.set(facetId, attributeId);
    }
    return attributes;
  }
}

const mayChange = ({ known, change }: ChangedDevice): boolean =>
  change.facets !== NO_FACETS && !hasAll(known?.facetIds ?? [], change.facets);
