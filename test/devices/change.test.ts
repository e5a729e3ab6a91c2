import fc from 'fast-check';
import t from 'tap';
import { fold, tagsAfter } from '../../src/devices/change.ts';
import type { Operation } from '../../src/devices/operation.ts';
import { deviceRef } from '../../src/devices/operation.ts';
import { NO_ATTRIBUTES } from '../../src/domain/device-attributes.ts';

const device = deviceRef(1, 15, 'token');
const tagIds = fc.array(fc.integer({ min: 1, max: 8 }), { maxLength: 5 });
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('reg' as const, 'set' as const),
    device: fc.constant(device),
    tagIds,
    attributes: fc
      .option(fc.constantFrom('1', '2'))
      .map((appVersion) => ({ ...NO_ATTRIBUTES, appVersion })),
  }),
  fc.record({
    kind: fc.constant('ureg' as const),
    device: fc.constant(device),
    tagIds: fc.oneof(tagIds, fc.constant('all' as const)),
  }),
);

/** The rules of the interface, one operation after the other. */
function model(before: ReadonlySet<number>, operations: readonly Operation[], live: Set<number>) {
  let tags = new Set(before);
  let registered = false;
  for (const operation of operations) {
    const given = operation.tagIds === 'all' ? [] : operation.tagIds;
    const known = given.filter((tagId) => live.has(tagId));
    if (operation.kind === 'ureg') {
      tags =
        operation.tagIds === 'all'
          ? new Set()
          : new Set([...tags].filter((tag) => !given.includes(tag)));
    } else if (operation.kind === 'reg') {
      registered = true;
      for (const tagId of known) tags.add(tagId);
    } else if (known.length > 0) {
      registered = true;
      tags = new Set(known);
    }
  }
  return { tags, registered };
}

t.test('folding is the same as one operation after the other', (t) => {
  const sets = fc.uniqueArray(fc.integer({ min: 1, max: 8 })).map((tags) => new Set(tags));
  fc.assert(
    fc.property(sets, sets, fc.array(operation, { maxLength: 8 }), (before, live, operations) => {
      const change = fold(operations, (tagId) => live.has(tagId));
      const kept = change.clear ? [] : [...before].filter((tag) => !change.remove.has(tag));
      const expected = model(before, operations, live);
      t.same([...new Set([...kept, ...change.add])].sort(), [...expected.tags].sort());
      t.equal(change.registers, expected.registered);
      t.notOk(
        [...change.add].some((tag) => change.remove.has(tag)),
        'no pair is added and removed',
      );
      t.notOk(change.clear && change.remove.size > 0, 'what is cleared is not removed as well');
    }),
    { numRuns: 500 },
  );
  t.end();
});

t.test('the last version given stands', (t) => {
  const reg = (appVersion: string | null): Operation => ({
    kind: 'reg',
    device,
    tagIds: [],
    attributes: { ...NO_ATTRIBUTES, appVersion },
  });
  t.equal(fold([reg('1'), reg('2'), reg(null)], () => true).attributes.appVersion, '2');
  t.equal(fold([reg(null)], () => true).attributes.appVersion, null);
  t.end();
});

t.test(
  'a change leaves a device with its tags in order, and never gives it more than it may have',
  (t) => {
    const tags = fc.uniqueArray(fc.integer({ min: 1, max: 20 }), { maxLength: 12 });
    const sorted = tags.map((tagIds) => tagIds.sort((a, b) => a - b));
    const change = fc
      .record({ clear: fc.boolean(), add: tags, remove: tags })
      .map(({ clear, add, remove }) => ({
        clear,
        add: new Set(add),
        remove: new Set(clear ? [] : remove.filter((tagId) => !add.includes(tagId))),
      }));
    fc.assert(
      fc.property(sorted, change, fc.integer({ min: 0, max: 12 }), (before, change, tagsMax) => {
        const after = tagsAfter(before, change, tagsMax);
        const had = new Set(before);
        const kept = before.filter((tagId) =>
          change.clear ? change.add.has(tagId) : !change.remove.has(tagId),
        );
        const wanted = [...change.add].filter((tagId) => !had.has(tagId));
        t.same(
          after.lost,
          before.filter((tagId) => !kept.includes(tagId)),
        );
        t.same(after.gained, wanted.slice(0, after.gained.length), 'in the order they were named');
        t.same(
          after.tagIds,
          [...kept, ...after.gained].sort((a, b) => a - b),
        );
        t.equal(after.isLimited, after.gained.length < wanted.length);
        if (after.gained.length > 0)
          t.ok(after.tagIds.length <= tagsMax, 'nothing beyond the limit');
        if (after.isLimited) t.ok(after.tagIds.length >= tagsMax, 'refused only where it is full');
      }),
      { numRuns: 200 },
    );
    t.end();
  },
);
