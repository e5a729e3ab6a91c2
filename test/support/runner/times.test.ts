import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { temporaryDirectory } from '../temporary-directory.ts';
import type { FileReport } from './assignment.ts';
import { budgetFault, readTimes, writeTimes } from './times.ts';

const report = (file: string, ms: number): FileReport => ({
  file,
  ms,
  cpuMs: 0,
  total: 1,
  pass: 1,
  fail: 0,
  skip: 0,
  todo: 0,
  left: [],
});

t.test('times are kept from run to run, the longest first', (t) => {
  const file = join(temporaryDirectory(t), 'kept', 'times.json');
  t.strictSame([...readTimes(file)], [], 'nothing has run yet');
  writeTimes([report('a', 10.4), report('b', 20)], file);
  writeTimes([report('a', 30)], file);
  t.strictSame(
    [...readTimes(file)],
    [
      ['a', 30],
      ['b', 20],
    ],
  );
  t.match(readFileSync(file, 'utf8'), /^\{\n "a": 30,\n "b": 20\n\}\n$/);
  writeFileSync(file, '{"a": 3');
  t.strictSame([...readTimes(file)], [], 'a file that was broken off');
  t.end();
});

t.test('a budget is for processor time and for waiting, with room for a busy machine', (t) => {
  const faultOf = (file: string, cpuMs: number, ms: number) =>
    budgetFault({ file, cpuMs, ms }, 100);
  t.equal(faultOf('a', 200, 600), null, 'beside other lanes');
  t.match(faultOf('a', 201, 201), /^takes 201 ms of the processor and 201 in all: a file has 100/);
  t.match(faultOf('a', 1, 601), /^takes 1 ms of the processor and 601 in all/);
  t.equal(faultOf('dist/test/app/prepare.test.js', 201, 601), null, 'an exception');
  t.end();
});
