import t from 'tap';
import { Progress } from '../../src/cli/progress.ts';

t.test('a bar on a terminal, taken away for a line in its place', (t) => {
  const written: string[] = [];
  const progress = new Progress(
    { isTerminal: true, write: (text) => written.push(text) },
    'records',
  );
  progress.show({ done: 250, total: 1_000, count: 1_234_567 });
  t.match(written[0], /\[#{6}\.{18}\] +25 % {2}1,234,567 records {2}0\/s$/);
  progress.show({ done: 251, total: 1_000, count: 1_234_568 });
  t.equal(written.length, 1, 'not more often than an eye can follow');
  progress.clear();
  progress.clear();
  t.same(written.slice(1), ['\r\x1b[K']);
  const unknown = new Progress(
    { isTerminal: true, write: (text) => written.push(text) },
    'devices',
  );
  unknown.show({ done: 0, total: null, count: 7 });
  t.equal(written.at(-1), '\r\x1b[K7 devices  0/s');
  t.end();
});

t.test('elsewhere a line, and not at once', (t) => {
  const written: string[] = [];
  const progress = new Progress(
    { isTerminal: false, write: (text) => written.push(text) },
    'records',
  );
  progress.show({ done: 1, total: 2, count: 1 });
  t.same(written, []);
  progress.clear();
  t.same(written, []);
  t.end();
});
