/** Devices gain and lose facets: one of each attribute, and never another's. */

import * as fc from 'fast-check';
import t from 'tap';
import type { WantedFacets } from '../../src/devices/facets.ts';
import { facetsAfter, facetsOfBoth, hasAll, NO_FACETS } from '../../src/devices/facets.ts';

/** The tens of a facet are its attribute; those from 90 on are gone. */
const attributeOf = (facetId: number) => (facetId >= 90 ? undefined : Math.floor(facetId / 10));

const after = (before: readonly number[], wanted: WantedFacets) =>
  facetsAfter(before, wanted, attributeOf);

t.test('a value takes the place of the one before, and others stay', (t) => {
  t.same(after([11, 21], new Map([[1, 12]])), { facetIds: [12, 21], gained: [12], lost: [11] });
  t.same(after([11], new Map([[3, 31]])), { facetIds: [11, 31], gained: [31], lost: [] });
  t.same(after([11, 21], new Map([[2, null]])), { facetIds: [11], gained: [], lost: [21] });
  t.same(after([11], new Map([[2, null]])), { facetIds: [11], gained: [], lost: [] });
  t.end();
});

t.test('a repetition is seen without knowing any attribute', (t) => {
  const unknown = () => t.fail('nothing is looked up') as never;
  const before = [11, 21];
  t.equal(facetsAfter(before, new Map([[1, 11]]), unknown).facetIds, before);
  t.equal(facetsAfter(before, NO_FACETS, unknown).facetIds, before);
  t.ok(hasAll([], new Map([[1, null]])));
  t.notOk(hasAll([11], new Map([[2, null]])), 'its attribute decides');
  t.end();
});

t.test('a value that is gone leaves the device with the next change', (t) => {
  t.same(after([11, 95], new Map([[2, 21]])), { facetIds: [11, 21], gained: [21], lost: [95] });
  t.end();
});

t.test('of two devices the first one wins, attribute by attribute', (t) => {
  t.same(facetsOfBoth([11, 31], [12, 21, 95], attributeOf), {
    facetIds: [11, 21, 31],
    gained: [21],
    lost: [],
  });
  t.end();
});

const wantedFacets = fc
  .array(fc.tuple(fc.nat(8), fc.option(fc.nat(9))), { maxLength: 4 })
  .map(
    (pairs) => new Map(pairs.map(([at, value]) => [at, value === null ? null : at * 10 + value])),
  );

const inOrder = (numbers: Iterable<number>) => [...numbers].sort((a, b) => a - b);

t.test('at most one value of each attribute, sorted, whatever came before', async () => {
  await fc.assert(
    fc.property(fc.array(wantedFacets, { maxLength: 20 }), (changes) => {
      const model = new Map<number, number>();
      let before: readonly number[] = [];
      for (const wanted of changes) {
        for (const [attribute, value] of wanted) {
          if (value === null) model.delete(attribute);
          else model.set(attribute, value);
        }
        const { facetIds, gained, lost } = after(before, wanted);
        const kept = before.filter((facetId) => !lost.includes(facetId));
        const isRight =
          String(facetIds) === String(inOrder(model.values())) &&
          String(facetIds) === String(inOrder([...kept, ...gained])) &&
          !gained.some((facetId) => before.includes(facetId));
        if (!isRight) return false;
        before = facetIds;
      }
      return true;
    }),
  );
});
