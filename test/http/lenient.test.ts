/** The fields of a push as real clients send them. */

import t from 'tap';
import { LenientReader } from '../../src/http/lenient.ts';

const read = (value: unknown) => {
  const reader = new LenientReader({ sendAt: value });
  return [reader.time('sendAt'), reader.faults.map(({ message }) => message)];
};

t.test('a time in milliseconds, in digits, or in ISO 8601', (t) => {
  const atMs = Date.UTC(2027, 1, 28, 10);
  for (const given of [atMs, String(atMs), '2027-02-28T10:00:00Z', '2027-02-28T12:00:00+02:00']) {
    t.same(read(given), [atMs, []], String(given));
  }
  t.same(read('2027-02-28T24:00Z'), [Date.UTC(2027, 2, 1), []]);
  t.same(read(null), [null, []]);
  t.same(read(undefined), [null, []]);
  t.end();
});

t.test('what is no time is refused', (t) => {
  const noTimes = [
    '2027-02-30T10:00:00Z',
    '2027-02-29T10:00:00+01:00',
    '2027-02-28T24:01Z',
    '2027-02-28',
    '2027-02-28T10:00',
    'soon',
    '',
    1.5,
    -1,
    true,
    [],
  ];
  for (const given of noTimes) {
    t.match(read(given), [null, [/must be a time/]], JSON.stringify(given));
  }
  t.match(read(1_800_000_000), [null, [/look like seconds/]]);
  t.end();
});

t.test('a list is measured before its entries are looked at', (t) => {
  const reader = new LenientReader({
    tagIds: Array(300_000).fill({}),
    tagSourceIds: Array(300_000).fill(7),
  });
  t.same([reader.ids('tagIds'), reader.texts('tagSourceIds')], [[], []]);
  t.match(reader.faults, [
    { path: 'tagIds', message: '1000 entries at most' },
    { path: 'tagSourceIds', message: '1000 entries at most' },
  ]);
  t.equal(reader.faults.length, 2);
  t.end();
});
