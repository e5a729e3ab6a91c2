import * as fc from 'fast-check';
import t from 'tap';
import type { AudienceCondition } from '../../../src/domain/audience-condition.ts';
import { isRowTest } from '../../../src/domain/audience-condition.ts';
import { readExpression } from '../../../src/domain/audience-expression.ts';
import type { Audience } from '../../../src/domain/notification.ts';
import { compiledOf, means, subsetsOf, textOf, trees } from '../../support/expressions.ts';

const TAGS = [1, 2, 3, 4];

/** `#n` has the id n; no device has a tag with another name. */
function compiled(text: string): Audience {
  const read = readExpression(text);
  if (!read.ok) throw new Error(read.fault.message);
  return compiledOf(read.expression.root, (reference) =>
    typeof reference === 'number' ? reference : null,
  );
}

const meets = (condition: AudienceCondition, tagIds: ReadonlySet<number>): boolean => {
  if (typeof condition === 'number') return tagIds.has(Math.abs(condition)) === condition > 0;
  if (isRowTest(condition)) throw new Error('these expressions ask for no days or numbers');
  return 'and' in condition
    ? condition.and.every((part) => meets(part, tagIds))
    : condition.or.some((part) => meets(part, tagIds));
};

const isAddressed = (audience: Audience, tagIds: ReadonlySet<number>): boolean =>
  audience.anyTagIds.some((id) => tagIds.has(id)) &&
  audience.allTagIds.every((id) => tagIds.has(id)) &&
  !audience.noneTagIds.some((id) => tagIds.has(id)) &&
  meets(audience.condition ?? { and: [] }, tagIds);

t.test('the audience is the devices that the expression means', (t) => {
  const nobody: ReadonlySet<number> = new Set();
  void fc.assert(
    fc.property(
      trees(TAGS).filter((tree) => !means(tree, nobody)),
      (tree) => {
        const audience = compiled(textOf(tree, (tag) => `#${tag}`));
        for (const tagIds of subsetsOf(TAGS)) {
          if (isAddressed(audience, tagIds) !== means(tree, tagIds)) {
            throw new Error(`${JSON.stringify(audience)} for ${[...tagIds].join()}`);
          }
        }
      },
    ),
    { numRuns: 1_000 },
  );
  t.pass();
  t.end();
});

const lists = (
  anyTagIds: readonly number[],
  allTagIds: readonly number[] = [],
  noneTagIds: readonly number[] = [],
) => ({ anyTagIds, allTagIds, noneTagIds });

t.test('what target, filter and exclude can say has no condition', (t) => {
  t.same(compiled('#1'), lists([1]));
  t.same(compiled('#1 || #2 || #1'), lists([1, 2]));
  t.same(compiled('#1 && !#2'), lists([1], [], [2]));
  t.same(compiled('(#1 || #2) && #3 && !#4'), lists([1, 2], [3], [4]));
  t.same(compiled('!(#4 || #5) && #3 && (#1 || #2)'), lists([1, 2], [3], [4, 5]));
  t.same(compiled('#1 && #2'), lists([1, 2], [1, 2]), 'each is one that selects');
  t.end();
});

t.test('`*` beside tags that select already asks for nothing more', (t) => {
  t.same(compiled('#1 || #2 && *'), lists([1, 2]));
  t.same(compiled('(#1 || #2) && (#3 || *)'), lists([1, 2]));
  t.same(compiled('#1 && (#2 || #3 && *)'), lists([2, 3], [1]));
  t.same(compiled('#1 || *'), { ...lists([]), isToEverybody: true });
  t.same(compiled('!#1 && *'), { ...lists([], [], [1]), isToEverybody: true });
  t.end();
});

t.test('all else has one, and its tags that select are targets', (t) => {
  t.same(compiled('#1 && #2 || #3 && !#4'), {
    ...lists([1, 2, 3]),
    condition: { or: [{ and: [1, 2] }, { and: [3, -4] }] },
  });
  t.same(compiled('(#1 || #2) && (#3 || #4) && #5'), {
    ...lists([1, 2, 3, 4], [5]),
    condition: { and: [{ or: [1, 2] }, { or: [3, 4] }] },
  });
  t.same(compiled('#1 && (#2 || !#3)'), {
    ...lists([1, 2], [1]),
    condition: { or: [2, -3] },
  });
  t.same(compiled('#1 && !(#2 && #3)'), { ...lists([1]), condition: { or: [-2, -3] } });
  t.end();
});

t.test('what nobody has', (t) => {
  t.same(compiled('nobody'), lists([]));
  t.same(compiled('#1 && nobody'), lists([]));
  t.same(compiled('#1 || nobody'), lists([1]));
  t.same(compiled('(#1 || nobody) && #2 && (#3 || nobody && #4)'), lists([1, 2, 3], [1, 2, 3]));
  t.end();
});
