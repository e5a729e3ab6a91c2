import * as fc from 'fast-check';
import t from 'tap';
import type { ExpressionNode } from '../../src/domain/audience-expression.ts';
import {
  EXPRESSION_DEPTH_MAX,
  EXPRESSION_LENGTH_MAX,
  isLeaf,
  operandsOf,
  partsOf,
  readExpression,
  requires,
} from '../../src/domain/audience-expression.ts';
import { TAGS_PER_REQUEST_MAX } from '../../src/domain/tag.ts';
import { means, subsetsOf, textOf, trees } from '../support/expressions.ts';

const TAGS = [1, 2, 3, 4];
const NOBODY: ReadonlySet<number> = new Set();

function rootOf(text: string): ExpressionNode {
  const read = readExpression(text);
  if (!read.ok) throw new Error(`${read.fault.position}: ${read.fault.message}`);
  return read.expression.root;
}

const namesIn = (text: string) =>
  operandsOf(rootOf(text)).map(
    ({ reference, isExcluded }) => `${isExcluded ? 'not ' : ''}${JSON.stringify(reference)}`,
  );

/** The expression that was read, evaluated unchanged. */
function holds(node: ExpressionNode, tagIds: ReadonlySet<number>): boolean {
  if (isLeaf(node)) {
    return 'reference' in node && tagIds.has(Number(node.reference)) !== node.isExcluded;
  }
  return 'and' in node
    ? node.and.every((part) => holds(part, tagIds))
    : node.or.some((part) => holds(part, tagIds));
}

t.test('what is read means what was written; who has no tag is never addressed', (t) => {
  void fc.assert(
    fc.property(trees(TAGS), (tree) => {
      const text = textOf(tree, (tag) => `#${tag}`);
      const read = readExpression(text);
      if (read.ok === means(tree, NOBODY)) throw new Error(`accepted: ${read.ok}`);
      if (!read.ok) return;
      for (const tagIds of subsetsOf(TAGS)) {
        if (holds(read.expression.root, tagIds) !== means(tree, tagIds)) {
          throw new Error(`${text} for ${[...tagIds].join()}`);
        }
      }
    }),
    { numRuns: 500 },
  );
  t.pass();
  t.end();
});

t.test('each alternative requires one of some tags, or none does', (t) => {
  void fc.assert(
    fc.property(trees(TAGS), fc.subarray(TAGS), (tree, ours) => {
      const read = readExpression(textOf(tree, (tag) => `#${tag}`));
      if (!read.ok) return;
      const { root } = read.expression;
      if (!requires(root, ({ reference }) => ours.includes(Number(reference)))) return;
      // No device without one of them is addressed.
      for (const tagIds of subsetsOf(TAGS.filter((tag) => !ours.includes(tag)))) {
        if (means(tree, tagIds)) throw new Error(`${[...tagIds].join()}`);
      }
    }),
    { numRuns: 500 },
  );
  const isA = ({ reference }: { readonly reference: unknown }) => reference === 'a';
  t.equal(requires(rootOf('a && x || a && y'), isA), true);
  t.equal(requires(rootOf('a && (x || !y)'), isA), true);
  t.equal(requires(rootOf('!(!a || x)'), isA), true);
  t.equal(requires(rootOf('a || x'), isA), false);
  t.equal(requires(rootOf('x && !a'), isA), false);
  t.end();
});

t.test('how tags are named', (t) => {
  t.strictSame(namesIn('goal_fcb'), ['"goal_fcb"']);
  t.strictSame(namesIn('a.b:c-d_9'), ['"a.b:c-d_9"']);
  t.strictSame(namesIn('Köln\n&&\t北京'), ['"Köln"', '"北京"']);
  t.strictSame(namesIn('7 && #7'), ['"7"', '7']);
  t.strictSame(namesIn('"goal bvb" || "a\\"b\\\\c" || "&& || ! ("'), [
    '"goal bvb"',
    '"a\\"b\\\\c"',
    '"&& || ! ("',
  ]);
  t.strictSame(namesIn('a&&!b&&!!c&&!!!"d"'), ['"a"', 'not "b"', '"c"', 'not "d"']);
  t.strictSame(namesIn('a && !(b || !c)'), ['"a"', 'not "b"', '"c"']);
  const [, second] = operandsOf(rootOf('a && ! "b"'));
  t.equal(second?.position, 7);
  t.end();
});

t.test('parts that are joined in the same way are one', (t) => {
  const root = rootOf('((a && b)) && !(c || d)');
  t.equal(isLeaf(root) ? 0 : partsOf(root).length, 4);
  t.end();
});

t.test('every fault has its place', (t) => {
  const faults: readonly (readonly [text: string, position: number, message: RegExp])[] = [
    ['', 0, /must stand a tag/],
    ['   ', 3, /must stand a tag/],
    ['""', 0, /must stand a tag/],
    ['a &&', 4, /must stand a tag/],
    ['a && && b', 5, /must stand a tag/],
    ['a || )', 5, /must stand a tag/],
    ['()', 1, /must stand a tag/],
    ['!', 1, /must stand a tag/],
    ['#', 0, /must stand a tag/],
    ['#x', 0, /must stand a tag/],
    ['a && #1234567890123456', 5, /must stand a tag/],
    ['a & b', 2, /"&&", "\|\|"/],
    ['a b', 2, /"&&", "\|\|"/],
    ['a !b', 2, /"&&", "\|\|"/],
    ['(a b)', 3, /"&&", "\|\|"/],
    ['#12x', 3, /"&&", "\|\|"/],
    ['a$', 1, /"&&", "\|\|"/],
    ['a)', 1, /never opened/],
    ['a && (b', 5, /never closed/],
    ['a && "b', 5, /quotation mark is never closed/],
    ['a && "b\\', 7, /backslash/],
    ['a && "b\\n"', 7, /backslash/],
    ['!a', 1, /everybody but/],
    ['a || b && c || !d && !e', 16, /everybody but/],
    ['a || (b || !c)', 12, /everybody but/],
    ['!(a && b)', 2, /everybody but/],
    ['😀', 0, /must stand a tag/],
    ['"😀" && %', 8, /must stand a tag/],
  ];
  for (const [text, position, message] of faults) {
    t.match(readExpression(text), { ok: false, fault: { position, message } }, text);
  }
  t.end();
});

t.test('as long, as deep and of as many tags as is allowed', (t) => {
  const isRead = (text: string) => readExpression(text).ok;
  const faultOf = (text: string) => {
    const read = readExpression(text);
    return read.ok ? null : read.fault;
  };
  const deep = (depth: number) => `${'('.repeat(depth)}a${')'.repeat(depth)}`;
  t.ok(isRead(deep(EXPRESSION_DEPTH_MAX)));
  t.match(faultOf(deep(EXPRESSION_DEPTH_MAX + 1)), { position: EXPRESSION_DEPTH_MAX });
  t.ok(isRead(`${'!'.repeat(1_000)}a`), 'they are counted, not nested');
  const many = (count: number) => Array(count).fill('a').join('||');
  t.ok(isRead(many(TAGS_PER_REQUEST_MAX)));
  t.match(faultOf(many(TAGS_PER_REQUEST_MAX + 1)), {
    position: TAGS_PER_REQUEST_MAX * 3,
    message: /1000 tags/,
  });
  t.ok(isRead(`"${'x'.repeat(EXPRESSION_LENGTH_MAX - 2)}"`));
  t.match(faultOf('('.repeat(EXPRESSION_LENGTH_MAX + 1)), { message: /65536 characters/ });
  t.end();
});
