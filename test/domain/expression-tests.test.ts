import t from 'tap';
import {
  leavesOf,
  readExpression,
  requires,
  segmentsOf,
  TESTING_LENGTH_MAX,
  testsOf,
} from '../../src/domain/audience-expression.ts';
import { TESTS_MAX, VALUES_MAX } from '../../src/domain/expression-tests.ts';

function rootOf(text: string) {
  const read = readExpression(text);
  if (!read.ok) throw new Error(`${read.fault.position}: ${read.fault.message}`);
  return read.expression.root;
}

const testsIn = (text: string): readonly string[] =>
  testsOf(rootOf(text)).map(({ test: { name, operator, values }, isExcluded }) =>
    [isExcluded ? 'not' : '', name, operator, ...values.map((one) => one.text)].join(' ').trim(),
  );

t.test('tests of attributes are read in every form', (t) => {
  t.strictSame(testsIn('a && @country'), ['country has']);
  t.strictSame(testsIn('a&&@country=CH'), ['country = CH']);
  t.strictSame(testsIn('a && @country  =\n "a \\"b\\""'), ['country = a "b"']);
  t.strictSame(testsIn('a && @zone = Europe/Zurich'), ['zone = Europe/Zurich']);
  t.strictSame(testsIn('a && @v>=5.2&&@v<6 && @v <= 7 && @v > 1 && @v != 5'), [
    'v >= 5.2',
    'v < 6',
    'v <= 7',
    'v > 1',
    'v != 5',
  ]);
  t.strictSame(testsIn('a && @c in (CH,DE , "x y")'), ['c in CH DE x y']);
  t.strictSame(testsIn('a && @c in(CH)'), ['c in CH']);
  t.strictSame(testsIn('a && !(@c = CH || @d)'), ['not c = CH', 'not d has']);
  t.strictSame(testsIn('a && @in in (in)'), ['in in in']);
  t.end();
});

t.test('segments and everybody are operands', (t) => {
  t.strictSame(
    segmentsOf(rootOf('$staff || !$"old ones" && *')).map(({ segment, position, end }) => [
      segment,
      position,
      end,
    ]),
    [
      ['staff', 0, 6],
      ['old ones', 11, 22],
    ],
  );
  t.strictSame(
    leavesOf(rootOf('* && @x')).map((leaf) => Object.keys(leaf)[0]),
    ['isEverybody', 'test'],
  );
  t.notOk(
    requires(rootOf('* && @x'), () => true),
    'everybody is no tag',
  );
  t.ok(requires(rootOf('a && *'), () => true));
  t.end();
});

t.test('tests alone address nobody', (t) => {
  for (const [text, position] of [
    ['@country = CH', 0],
    ['a || @country = CH', 5],
    ['!(a || @country)', 2],
    ['!*', 1],
    ['a || !@country', 6],
  ] as const) {
    const read = readExpression(text);
    t.match(read, { ok: false, fault: { position } }, text);
  }
  t.end();
});

t.test('every fault of a test has its place', (t) => {
  const many = (count: number, one: string, by: string) => Array(count).fill(one).join(by);
  const faults: readonly (readonly [text: string, position: number, message: RegExp])[] = [
    ['a && @', 5, /name of an attribute/],
    ['a && @ country', 5, /name of an attribute/],
    ['a && @country =', 15, /must stand a value/],
    ['a && @country == CH', 15, /must stand a value/],
    ['a && @country = ""', 16, /must stand a value/],
    ['a && @country = "x', 16, /never closed/],
    ['a && @country in ()', 18, /must stand a value/],
    ['a && @country in (CH DE)', 21, /"," and a further value/],
    ['a && @country in (CH', 20, /"," and a further value/],
    ['a && @country CH', 14, /"&&", "\|\|", or nothing more/],
    ['a && @country in CH', 14, /"&&", "\|\|", or nothing more/],
    ['a && $', 5, /name of a segment/],
    ['a && $ b', 5, /name of a segment/],
    ['a * b', 2, /"&&", "\|\|", or nothing more/],
    [`a && ${many(TESTS_MAX + 1, '@x', '||')}`, 5 + TESTS_MAX * 4, /20 tests/],
    [`a && @x in (${many(VALUES_MAX + 1, 'v', ',')})`, 12 + VALUES_MAX * 2, /100 values/],
    [`a && @x${' '.repeat(TESTING_LENGTH_MAX)}`, TESTING_LENGTH_MAX, /4000 characters/],
    [`$a${' '.repeat(TESTING_LENGTH_MAX)}`, TESTING_LENGTH_MAX, /4000 characters/],
  ];
  for (const [text, position, message] of faults) {
    t.match(readExpression(text), { ok: false, fault: { position, message } }, text.slice(0, 40));
  }
  t.ok(readExpression(`a${' '.repeat(TESTING_LENGTH_MAX)}`).ok, 'tags alone may be longer');
  t.ok(readExpression(`a && ${many(TESTS_MAX, '@x', '&&')}`).ok);
  t.ok(readExpression(`a && @x in (${many(VALUES_MAX, 'v', ',')})`).ok);
  t.end();
});

t.test('what is read of any text is a fault inside of it, or whole', (t) => {
  const pieces = ['a', '@x', '=', 'in', '(', ')', '"', '&&', '||', '!', '$', '*', ',', '5.2', ' '];
  let state = 7;
  for (let round = 0; round < 5_000; round += 1) {
    let text = '';
    for (let n = 0; n < 12; n += 1) {
      state = (state * 48_271) % 2_147_483_647;
      text += pieces[state % pieces.length];
    }
    const read = readExpression(text);
    if (!read.ok && read.fault.position > text.length) t.fail(text);
  }
  t.pass();
  t.end();
});
