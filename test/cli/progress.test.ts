import t from 'tap';
import { Progress } from '../../src/cli/progress.ts';
import { ManualClock } from '../support/scripted-sender.ts';

t.test('a bar on a terminal, taken away for a line in its place', (t) => {
  const written: string[] = [];
  const output = { isTerminal: true, write: (text: string) => written.push(text) };
  const clock = new ManualClock();
  const progress = new Progress(output, 'record', clock);
  progress.show({ done: 250, total: 1_000, count: 1_234_567 });
  t.match(written[0], /\[#{6}\.{18}\] +25 % {2}1,234,567 records {2}0\/s$/);
  progress.show({ done: 251, total: 1_000, count: 1_234_568 });
  t.equal(written.length, 1, 'not more often than an eye can follow');
  clock.pass(1_000);
  progress.show({ done: 500, total: 1_000, count: 1_235_567 });
  t.match(written[1], /\[#{12}\.{12}\] +50 % {2}1,235,567 records {2}1,000\/s {2}2 s left$/);
  progress.clear();
  progress.clear();
  t.same(written.slice(2), ['\r\x1b[K']);
  const unknown = new Progress(output, 'device', clock);
  unknown.show({ done: 0, total: null, count: 7 });
  t.equal(written.at(-1), '\r\x1b[K7 devices  0/s');
  t.end();
});

t.test('elsewhere a line, and not at once', (t) => {
  const written: string[] = [];
  const clock = new ManualClock();
  const progress = new Progress(
    { isTerminal: false, write: (text) => written.push(text) },
    'record',
    clock,
  );
  progress.show({ done: 1, total: 2, count: 1 });
  t.same(written, []);
  clock.pass(60_000);
  progress.show({ done: 2, total: 2, count: 61 });
  t.same(written, ['100 %  61 records  1/s\n']);
  progress.clear();
  t.equal(written.length, 1);
  t.end();
});
