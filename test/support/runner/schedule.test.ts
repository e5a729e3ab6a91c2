import t from 'tap';
import type { Job } from './schedule.ts';
import { Schedule } from './schedule.ts';

const job = (file: string, knownMs: number | null, home: string | null = null): Job => ({
  file,
  stores: 'both',
  knownMs,
  home,
  isAlone: false,
});

const drawn = (schedule: Schedule, lane: number, count: number): readonly (string | null)[] =>
  Array.from({ length: count }, () => schedule.next(lane)?.file ?? null);

t.test('files that nobody knows come first, then the longest', (t) => {
  const schedule = new Schedule([job('short', 10), job('long', 1_000), job('new', null)]);
  t.strictSame(drawn(schedule, 0, 4), ['new', 'long', 'short', null]);
  t.end();
});

t.test('files of one home run in one lane, before others', (t) => {
  const schedule = new Schedule([
    job('a', 500),
    job('b', 400),
    job('page 1', 20, 'browser'),
    job('page 2', 30, 'browser'),
    job('service 1', 5, 'service'),
  ]);
  t.strictSame(drawn(schedule, 0, 1), ['page 2'], 'the home with most work finds a lane first');
  t.strictSame(drawn(schedule, 1, 2), ['service 1', 'a']);
  t.strictSame(drawn(schedule, 0, 2), ['page 1', 'b']);
  t.strictSame(drawn(schedule, 2, 1), [null]);
  t.end();
});

t.test('an idle lane helps a home that has several files left', (t) => {
  const pages = [1, 2, 3].map((n) => job(`page ${n}`, n, 'browser'));
  const schedule = new Schedule(pages);
  t.strictSame(drawn(schedule, 0, 1), ['page 3']);
  t.strictSame(drawn(schedule, 1, 1), ['page 2'], 'two were left');
  t.strictSame(drawn(schedule, 2, 1), [null], 'the last one stays at home');
  t.strictSame(drawn(schedule, 0, 2), ['page 1', null]);
  t.end();
});

t.test('a lane that is alone runs every home to its end', (t) => {
  const schedule = new Schedule([job('page', 2, 'browser'), job('service', 1, 'service')]);
  t.strictSame(drawn(schedule, 0, 3), ['page', 'service', null]);
  t.end();
});
