/** An expression as rows of conditions, and back: by the engine's own reader it means the same. */

import * as fc from 'fast-check';
import t from 'tap';
import type { Attribute } from '../../../src/domain/attributes.ts';
import { ATTRIBUTE_TYPES } from '../../../src/domain/attributes.ts';
import type { ExpressionLeaf, ExpressionNode } from '../../../src/domain/audience-expression.ts';
import { isLeaf, readExpression, testsOf } from '../../../src/domain/audience-expression.ts';
import { resolveTest } from '../../../src/push/accept/resolve-test.ts';
import { consoleWords } from '../../support/console-words.ts';
import type { Tree } from '../../support/expressions.ts';
import { textOf, trees } from '../../support/expressions.ts';

interface Row {
  of: string;
  operator: string;
  picked: { id: number; name: string; sourceId?: string }[];
  values: string[];
}
interface Rows {
  isAll: boolean;
  groups: Row[][];
}
type Listed = { name: string; type: string; personal: boolean; isBuiltIn: boolean };
interface Tested {
  readonly name: string;
  readonly type: string;
}

const { textOfRows, isUnfinished, newRow } = await consoleWords<{
  textOfRows(rows: Rows): string;
  isUnfinished(text: string): boolean;
  newRow(): Row;
}>(t, 'audience-rows');
const { rowsOf } = await consoleWords<{
  rowsOf(text: string, known: object): Promise<Rows | null>;
}>(t, 'rows-of-expression');
const { testedAttributes, operatorsOf } = await consoleWords<{
  testedAttributes(listed: readonly Listed[]): readonly Tested[];
  operatorsOf(attribute: Tested): readonly string[];
}>(t, 'tested-attributes');

const listed = (name: string, type: string, isBuiltIn = false): Listed => ({
  ...{ name, type, isBuiltIn },
  personal: false,
});
const BUILT_IN = [
  listed('language', 'language', true),
  listed('appVersion', 'version', true),
  listed('country', 'text', true),
  listed('registered', 'time', true),
  listed('lastSeen', 'time', true),
];
const DECLARED = ATTRIBUTE_TYPES.map((type) => listed(`of_${type}`, type));
const ATTRIBUTES = testedAttributes([...BUILT_IN, ...DECLARED]);

const TAGS = [
  { id: 7, name: 'Sports' },
  { id: 8, name: 'News', sourceId: 'news' },
  { id: 9, name: 'Odd', sourceId: 'a "b" … c\\' },
];
const known = {
  attributes: ATTRIBUTES,
  segments: ['staff', 'a/b ü', 'Zürich'],
  findTags: (references: readonly (number | string)[]) => {
    const found = references.flatMap((one) => {
      const tag = TAGS.find(({ id, sourceId }) => id === one || sourceId === one);
      return tag === undefined ? [] : [[one, tag] as const];
    });
    return Promise.resolve(new Map(found));
  },
};

/** The text of its rows; null: it has none. */
async function written(text: string): Promise<string | null> {
  const rows = await rowsOf(text, known);
  return rows === null ? null : textOfRows(rows);
}

function rootOf(text: string): ExpressionNode {
  const read = readExpression(text, { isSegment: true });
  if (!read.ok) throw new Error(`${text}: ${read.fault.message}`);
  return read.expression.root;
}

/** The question of a leaf, without its place. A tag is also called by its source id. */
function questionOf(leaf: ExpressionLeaf): string {
  if ('reference' in leaf) {
    const tag = TAGS.find(({ id, sourceId }) => [id, sourceId].includes(leaf.reference));
    return `tag ${tag?.id ?? leaf.reference}`;
  }
  if ('segment' in leaf) return `segment ${leaf.segment}`;
  if ('isEverybody' in leaf) return '*';
  const { name, operator, values } = leaf.test;
  return JSON.stringify([name, operator, values.map((value) => value.text)]);
}

function questionsOf(node: ExpressionNode): readonly string[] {
  if (isLeaf(node)) return [questionOf(node)];
  return ('and' in node ? node.and : node.or).flatMap(questionsOf);
}

function means(node: ExpressionNode, holds: ReadonlySet<string>): boolean {
  if (isLeaf(node)) return holds.has(questionOf(node)) !== node.isExcluded;
  if ('and' in node) return node.and.every((part) => means(part, holds));
  return node.or.some((part) => means(part, holds));
}

/** Whether both mean the same devices, whatever is true of one. */
function meanTheSame(one: ExpressionNode, other: ExpressionNode): boolean {
  const questions = [...new Set([...questionsOf(one), ...questionsOf(other)])];
  for (let bits = 0; bits < 2 ** questions.length; bits += 1) {
    const holds = new Set(questions.filter((_, place) => (bits >> place) % 2 === 1));
    if (means(one, holds) !== means(other, holds)) return false;
  }
  return true;
}

const LEAVES = [
  '#7',
  'news',
  '"a \\"b\\" … c\\\\"',
  '*',
  '$staff',
  '$"a/b ü"',
  '@country',
  '@country = CH',
  '@language in (de, fr-CH)',
  '@of_text = "x, … y"',
  '@of_boolean = true',
  '@appVersion >= 5.2',
  '@appVersion < 6',
  '@platform in (3, 15)',
  '@registered >= -7d',
  '@lastSeen < 2027-01-31',
];

t.test('what rows show', async (t) => {
  const same = [
    '#7',
    'news && @language = de && !$staff',
    '* && @registered >= -7d',
    'news || (#7 && @appVersion >= 5.2)',
    '(news || #7) && !(@country = CH)',
    '@of_text in ("x, y", z)',
    '!@country && @of_boolean = false',
    '@lastSeen < 2027-01-31T12:00Z && @platform != 3',
  ];
  for (const text of same) t.equal(await written(text), text);
  const other = {
    '!(news && #7)': '!news || !#7',
    '#8&&(@country=CH)': 'news && @country = CH',
    '!(@appVersion >= 5 || @country)': '!(@appVersion >= 5) && !@country',
    '(((news)))': 'news',
  };
  for (const [text, rows] of Object.entries(other)) t.equal(await written(text), rows);
});

t.test('what stays text', async (t) => {
  const texts = [
    'news && (#7 || (@country && @language = de))',
    'news && !*',
    'gone && #7',
    'news && $unknown',
    'news && @unknown = 1',
    'news && @of_boolean in (true, false)',
    'news && @of_boolean = perhaps',
    'news && @registered in (-1d, -2d)',
    'news && @platform < 15',
    'news && @of_text = " x"',
    'news &&',
    Array.from({ length: 41 }, () => 'news').join(' || '),
  ];
  for (const text of texts) t.equal(await written(text), null, text);
});

t.test('any expression that rows show means the same as their text', async (t) => {
  let shown = 0;
  const places = LEAVES.map((_, place) => place);
  await fc.assert(
    fc.asyncProperty(trees(places), async (tree: Tree) => {
      const text = textOf(tree, (place) => LEAVES[place] ?? '');
      const root = rootOf(text);
      fc.pre(new Set(questionsOf(root)).size <= 10);
      const rows = await written(text);
      if (rows === null) return;
      shown += 1;
      if (!meanTheSame(root, rootOf(rows))) throw new Error(`${text} is not ${rows}`);
      if ((await written(rows)) !== rows) throw new Error(`${rows} does not stay`);
    }),
    { numRuns: 3_000 },
  );
  t.ok(shown > 1_000, `${shown} of them`);
});

t.test('what is to be filled in is marked in the text, and comes back', async (t) => {
  const rows: Rows = {
    isAll: true,
    groups: [
      [{ ...newRow(), operator: 'not' }],
      [
        { ...newRow(), of: 'segment' },
        { ...newRow(), of: '@country', operator: 'in' },
      ],
      [{ ...newRow(), of: '@language', operator: 'not =' }],
    ],
  };
  const text = '!… && ($… || @country in (…)) && !(@language = …)';
  t.equal(textOfRows(rows), text);
  t.ok(isUnfinished(text));
  t.notOk(readExpression(text).ok, 'the engine would refuse it');
  t.strictSame(await rowsOf(text, known), rows);
  t.notOk(isUnfinished('"a … b" && @country = "…"'), 'in quotation marks it is a name');
  t.equal(textOfRows({ isAll: true, groups: [[newRow()]] }), '', 'nothing is chosen');
});

t.test('the engine takes each comparison that is offered, of every type', (t) => {
  const VALUES: Readonly<Record<string, string>> = {
    language: 'de-CH',
    zone: 'Europe/Zurich',
    version: '5.2',
    boolean: 'true',
    time: '-30d',
  };
  const attributes = DECLARED.map(
    ({ name, type }, place) =>
      [
        name,
        {
          ...{ id: place + 1, name, type, setBy: 'both', appIds: null },
          isPersonal: false,
        } as Attribute,
      ] as const,
  );
  for (const attribute of ATTRIBUTES) {
    for (const operator of operatorsOf(attribute)) {
      const values = [VALUES[attribute.type] ?? '15'].map((one) =>
        attribute.name === 'country' ? 'CH' : one,
      );
      const row = { ...newRow(), of: `@${attribute.name}`, operator, values };
      const text = textOfRows({ isAll: true, groups: [[row]] });
      const [test] = testsOf(rootOf(text));
      const resolved = test && resolveTest(test, new Map(attributes));
      t.ok(resolved?.ok, text);
      t.equal(test?.isExcluded, operator.startsWith('not'), text);
    }
  }
  const names = ['platform', 'app', 'registered', 'lastSeen'];
  t.ok(names.every((name) => ATTRIBUTES.some((one) => one.name === name)));
  t.end();
});
