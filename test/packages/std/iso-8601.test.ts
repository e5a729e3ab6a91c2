/** Times in ISO 8601: those that exist, and no others. */

import t from 'tap';
import { isoDayOrTimeMs, isoTimeMs } from '../../../packages/std/src/iso-8601.ts';

const at = (text: string): string | null => {
  const ms = isoTimeMs(text);
  return ms === null ? null : new Date(ms).toISOString();
};

t.test('a time with its zone', (t) => {
  t.equal(at('2027-02-28T10:00:00Z'), '2027-02-28T10:00:00.000Z');
  t.equal(at('2027-02-28t10:00z'), '2027-02-28T10:00:00.000Z');
  t.equal(at('2027-02-28T10:00:00.123456789Z'), '2027-02-28T10:00:00.123Z');
  t.equal(
    at('2027-03-01T00:30:00+01:00'),
    '2027-02-28T23:30:00.000Z',
    'the day is that of its zone',
  );
  t.equal(at('2027-02-28T23:30:00-0130'), '2027-03-01T01:00:00.000Z');
  t.equal(at('2027-01-01T00:00+23:59'), '2026-12-31T00:01:00.000Z');
  for (const text of [
    '2027-02-28',
    '2027-02-28T10:00',
    '2027-02-28 10:00Z',
    ' 2027-02-28T10:00Z',
    'soon',
    '',
  ]) {
    t.equal(at(text), null, text);
  }
  t.end();
});

t.test('a day that its month does not have', (t) => {
  for (const day of [
    '02-29',
    '02-30',
    '02-31',
    '04-31',
    '06-31',
    '09-31',
    '11-31',
    '01-32',
    '01-00',
    '00-10',
    '13-01',
  ]) {
    t.equal(at(`2027-${day}T10:00:00Z`), null, day);
    t.equal(at(`2027-${day}T10:00:00+02:00`), null, `${day} elsewhere`);
    t.equal(at(`2027-${day}T24:00Z`), null, `${day}, its end`);
    t.equal(isoDayOrTimeMs(`2027-${day}`), null, `${day} alone`);
  }
  t.end();
});

t.test('leap days', (t) => {
  t.equal(at('2028-02-29T10:00:00Z'), '2028-02-29T10:00:00.000Z');
  t.equal(at('2000-02-29T10:00:00Z'), '2000-02-29T10:00:00.000Z');
  t.equal(at('2100-02-29T10:00:00Z'), null);
  t.equal(at('2028-02-30T10:00:00Z'), null);
  t.end();
});

t.test('24:00 is the end of its day, and nothing is later', (t) => {
  t.equal(at('2027-02-28T24:00Z'), '2027-03-01T00:00:00.000Z');
  t.equal(at('2028-02-28T24:00:00Z'), '2028-02-29T00:00:00.000Z');
  t.equal(at('2027-02-28T24:00:00.0+01:00'), '2027-02-28T23:00:00.000Z');
  for (const time of [
    '24:01',
    '24:00:01',
    '24:00:00.001',
    '25:00',
    '10:60',
    '10:00:60',
    '10:00:61',
  ]) {
    t.equal(at(`2027-02-28T${time}Z`), null, time);
  }
  t.end();
});

t.test('offsets are less than a day', (t) => {
  for (const offset of ['+24:00', '+25:00', '+01:60', '-2400', '+1', '+100']) {
    t.equal(at(`2027-02-28T10:00:00${offset}`), null, offset);
  }
  t.end();
});

t.test('a day alone is its beginning in UTC, where days are taken', (t) => {
  t.equal(isoDayOrTimeMs('2027-02-28'), Date.UTC(2027, 1, 28));
  t.equal(isoDayOrTimeMs('2027-02-28T10:00Z'), Date.UTC(2027, 1, 28, 10));
  for (const text of ['2027-02', '2027', '28 Feb 2027', '2027-02-28T10:00']) {
    t.equal(isoDayOrTimeMs(text), null, text);
  }
  t.end();
});
