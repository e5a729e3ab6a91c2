/** The tree of groups: cycles and depth, against trees made at random. */

import fc from 'fast-check';
import t from 'tap';
import { TagGroupTree } from '../../src/catalogue/tag-group-tree.ts';
import type { TagGroup } from '../../src/domain/tag.ts';

const group = (id: number, parentId: number | null, sourceId: string | null = null): TagGroup => ({
  id,
  clientId: 1,
  name: `g${id}`,
  sourceId,
  parentId,
});
/** 1 ← 2 ← … ← length */
const chain = (length: number): readonly TagGroup[] =>
  Array.from({ length }, (_, index) => group(index + 1, index === 0 ? null : index));

t.test('32 deep is allowed, 33 is not, wherever the change was', (t) => {
  t.equal(new TagGroupTree(chain(32)).misplaced(new Set([1, 32])).size, 0);
  t.same(new TagGroupTree(chain(33)).misplaced(new Set([33])), new Set([33]));
  const tree = new TagGroupTree([...chain(32), group(100, null)]);
  tree.put(group(1, 100));
  t.same(tree.misplaced(new Set([1])), new Set([1]), 'what hangs under it becomes too deep');
  t.end();
});

t.test('a cycle is found at the group that closes it', (t) => {
  const tree = new TagGroupTree(chain(3));
  tree.put(group(1, 3));
  t.same(tree.misplaced(new Set([1])), new Set([1]));
  const self = new TagGroupTree([group(1, 1)]);
  t.same(self.misplaced(new Set([1])), new Set([1]));
  t.end();
});

t.test('a new sourceId is found, and the old one no more', (t) => {
  const tree = new TagGroupTree([group(1, null, 'old')]);
  tree.put(group(1, null, 'new'));
  t.equal(tree.bySourceId('old'), undefined);
  t.equal(tree.bySourceId('new')?.id, 1);
  t.equal(tree.size, 1);
  t.end();
});

t.test('a tree is right exactly when every group reaches the root', (t) => {
  const parents = fc.array(fc.option(fc.integer({ min: 1, max: 8 }), { nil: null }), {
    minLength: 8,
    maxLength: 8,
  });
  fc.assert(
    fc.property(parents, (parentIds) => {
      const groups = parentIds.map((parentId, index) => group(index + 1, parentId));
      const tree = new TagGroupTree(groups);
      const reachesRoot = groups.every(({ id }) => {
        const seen = new Set<number>();
        let at: number | null = id;
        while (at !== null && !seen.has(at)) {
          seen.add(at);
          at = parentIds[at - 1] ?? null;
        }
        return at === null;
      });
      const misplaced = tree.misplaced(new Set(groups.map(({ id }) => id)));
      return (misplaced.size === 0) === reachesRoot;
    }),
  );
  t.pass('as the model says');
  t.end();
});
