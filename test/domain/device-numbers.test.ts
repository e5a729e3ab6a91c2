import t from 'tap';
import {
  anyNumber,
  attributeOfEntry,
  entriesOf,
  entryOf,
  meetsNumbers,
  numbersTest,
  readNumber,
  shownNumber,
} from '../../src/domain/device-numbers.ts';

t.test('whole numbers are taken, also as texts', (t) => {
  for (const [given, kept] of [
    [0, 0],
    [-2_147_483_647, -2_147_483_647],
    ['2147483647', 2_147_483_647],
    ['+7', 7],
    ['-7', -7],
  ] as const) {
    t.equal(readNumber('integer', given), kept);
  }
  for (const given of [2_147_483_648, 1.5, '1.5', '', ' 1', '1e3', true, null, [], Number.NaN]) {
    t.equal(readNumber('integer', given), null, JSON.stringify(given));
  }
  t.end();
});

t.test('times are kept to the minute', (t) => {
  const minute = Date.parse('2027-03-01T10:30:00Z') / 60_000;
  for (const given of [
    '2027-03-01T10:30Z',
    '2027-03-01T10:30:59.999Z',
    '2027-03-01T11:30+01:00',
    minute * 60_000,
    minute * 60_000 + 0.5,
    String(minute * 60_000 + 1),
  ]) {
    t.equal(readNumber('time', given), minute, String(given));
  }
  t.equal(readNumber('time', '1970-01-01'), 0);
  for (const given of ['-1d', '2107-01-01', -1, Number.NaN, true, '2027-02-29', '12:00']) {
    t.equal(readNumber('time', given), null, String(given));
  }
  t.end();
});

t.test('entries are in the order of their values, and are shown as they are given', (t) => {
  const values = [-2_147_483_647, -1, 0, 1, 2_147_483_647];
  const entries = values.map((value) => entryOf(2_000_000_000, value));
  t.same(entries.toSorted(), entries);
  t.same(
    entries.map((entry) => shownNumber('integer', entry)),
    values,
  );
  t.same(entries.map(attributeOfEntry), Array(5).fill(2_000_000_000));
  t.same(entriesOf(entries.join('')), entries);
  t.same(entriesOf(''), []);
  const minute = readNumber('time', '2027-03-01T10:30Z') ?? 0;
  t.equal(shownNumber('time', entryOf(7, minute)), '2027-03-01T10:30Z');
  t.end();
});

t.test('beyond the least and the greatest value is nothing', (t) => {
  const least = entryOf(7, -2_147_483_647);
  const greatest = entryOf(7, 2_147_483_647);
  const meets = (operator: '<' | '<=' | '>' | '!=', value: number, entry: string) => {
    const test = numbersTest(7, 'integer', operator, [String(value)], 0);
    return test !== null && meetsNumbers(test, [entry]);
  };
  t.notOk(meets('<', -2_147_483_647, least));
  t.ok(meets('<=', -2_147_483_647, least));
  t.notOk(meets('>', 2_147_483_647, greatest));
  t.ok(meets('!=', 2_147_483_647, least));
  t.equal(numbersTest(7, 'time', '>', ['+999999d'], 2 ** 52)?.ranges.length, undefined);
  t.end();
});

t.test('only the values of its attribute meet a test', (t) => {
  const any = anyNumber(7);
  t.ok(meetsNumbers(any, [entryOf(6, 0), entryOf(7, 0)]));
  t.notOk(meetsNumbers(any, [entryOf(6, 2_147_483_647), entryOf(8, -2_147_483_647)]));
  t.ok(meetsNumbers({ ...any, isExcluded: true }, []));
  t.end();
});
