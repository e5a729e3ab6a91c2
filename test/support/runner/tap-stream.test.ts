import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import t from 'tap';
import type { FileReport } from './assignment.ts';
import { TapStream } from './tap-stream.ts';

const report: FileReport = {
  file: 'a.test.js',
  ms: 12.3,
  cpuMs: 1,
  total: 2,
  pass: 2,
  fail: 0,
  skip: 0,
  todo: 0,
  left: [],
};
const lines = ['    ok 1 - one', '    ok 2 - two', '    1..2'];

t.test('files become subtests of one stream, with totals', async (t) => {
  const out = new PassThrough();
  const tap = new TapStream(out);
  tap.write({ report, lines }, []);
  tap.write({ report, lines }, ['leaves behind: rows of devices']);
  tap.end();
  t.equal(
    await text(out),
    [
      'TAP version 14',
      '# Subtest: a.test.js',
      ...lines,
      'ok 1 - a.test.js # time=12ms',
      '',
      '# Subtest: a.test.js',
      '    ok 1 - one',
      '    ok 2 - two',
      '    not ok 3 - leaves behind: rows of devices',
      '    1..3',
      'not ok 2 - a.test.js # time=12ms',
      '',
      '1..2',
      '# { total: 5, pass: 4, fail: 1 }',
      '',
    ].join('\n'),
  );
  t.equal(tap.totals.fail, 1);
});
