import t from 'tap';
import { localMsOf } from '../../packages/std/src/local-time.ts';
import type { Moment } from '../../src/domain/waves.ts';
import { arranged, momentsOf, WAVES_MAX } from '../../src/domain/waves.ts';

const EIGHT = localMsOf('2026-12-01T08:00') ?? 0;
const HOUR_MS = 3_600_000;
const ALL_ZONES = [...Intl.supportedValuesOf('timeZone'), 'UTC'];

const moment = (hour: number, zone: string): Moment => ({
  atMs: hour * HOUR_MS,
  zones: [zone],
  hasOthers: false,
  isSkipped: false,
});

t.test('zones whose clocks agree have one moment', (t) => {
  const zones = ['Europe/Zurich', 'Asia/Tokyo', 'Europe/Berlin', 'Moon/Tycho'];
  t.strictSame(momentsOf(EIGHT, zones, 'UTC'), [
    { ...moment(0, 'Asia/Tokyo'), atMs: Date.parse('2026-11-30T23:00Z') },
    {
      ...moment(0, ''),
      atMs: Date.parse('2026-12-01T07:00Z'),
      zones: ['Europe/Zurich', 'Europe/Berlin'],
    },
    { ...moment(0, ''), atMs: EIGHT, zones: [], hasOthers: true },
  ]);
  t.strictSame(momentsOf(EIGHT, ['Asia/Tokyo'], 'Asia/Tokyo').length, 1);
  t.strictSame(momentsOf(EIGHT, [], null), []);
  t.end();
});

t.test('the whole world fits into the waves of a job, each zone in one of them', (t) => {
  const moments = momentsOf(EIGHT, ALL_ZONES, 'UTC');
  t.ok(moments.length > 30 && moments.length <= WAVES_MAX, `${moments.length}`);
  t.equal(moments.flatMap(({ zones }) => zones).length, ALL_ZONES.length);
  t.end();
});

t.test('what has passed is skipped, or sent now together', (t) => {
  const moments = [moment(1, 'a'), { ...moment(2, 'b'), hasOthers: true }, moment(4, 'c')];
  const terms = { nowMs: 3 * HOUR_MS + 123, max: WAVES_MAX };
  t.strictSame(arranged(moments, { ...terms, sendsLate: false }), [
    { ...moment(1, 'a'), isSkipped: true },
    { ...moment(2, 'b'), hasOthers: true, isSkipped: true },
    moment(4, 'c'),
  ]);
  t.strictSame(arranged(moments, { ...terms, sendsLate: true }), [
    { atMs: 3 * HOUR_MS, zones: ['a', 'b'], hasOthers: true, isSkipped: false },
    moment(4, 'c'),
  ]);
  t.strictSame(arranged(moments, { ...terms, nowMs: HOUR_MS, sendsLate: true }), moments);
  t.end();
});

t.test('beyond the limit the nearest are merged, at the later one', (t) => {
  const moments = [moment(1, 'a'), moment(5, 'b'), moment(6, 'c'), moment(8, 'd')];
  const within = (max: number) =>
    arranged(moments, { sendsLate: false, nowMs: 0, max }).map(({ atMs, zones }) => [
      atMs / HOUR_MS,
      zones.join(''),
    ]);
  t.strictSame(within(3), [
    [1, 'a'],
    [6, 'bc'],
    [8, 'd'],
  ]);
  t.strictSame(within(1), [[8, 'abcd']]);
  t.end();
});
