import t from 'tap';
import { isRelativeTime, readTime, timeOf } from '../../src/domain/test-times.ts';

const NOW_MS = Date.parse('2027-03-01T10:30:00Z');

t.test('times are of ISO 8601, epoch milliseconds, or relative', (t) => {
  const wanted: readonly (readonly [string, string | null])[] = [
    ['2027-03-01', '2027-03-01T00:00:00Z'],
    ['2027-03-01T01:00+02:00', '2027-02-28T23:00:00Z'],
    ['1798761600000', '2027-01-01T00:00:00Z'],
    ['-30d', '2027-01-30T10:30:00Z'],
    ['-12h', '2027-02-28T22:30:00Z'],
    ['+7d', '2027-03-08T10:30:00Z'],
    ['2027-02-29', null],
    ['2027-03-01T01:00', null],
    ['1969-12-31', null],
    ['2107-01-01', null],
    ['1798761600', null],
    ['30d', null],
    ['-30m', null],
    ['-1000000d', null],
    ['soon', null],
    ['', null],
  ];
  for (const [text, moment] of wanted) {
    const kept = readTime(text);
    const at = kept === null ? null : new Date(timeOf(kept, NOW_MS)).toISOString();
    t.equal(at, moment === null ? null : new Date(moment).toISOString(), text);
  }
  t.end();
});

t.test('only relative ones move', (t) => {
  t.ok(isRelativeTime('-30d'));
  t.notOk(isRelativeTime(readTime('2027-03-01') ?? ''));
  t.end();
});
