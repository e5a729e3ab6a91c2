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

t.test('a budget is for processor time, with room for a slow machine', (t) => {
  const faultOf = (file: string, cpuMs: number) => budgetFault({ file, cpuMs, ms: 9_000 }, 100);
  t.equal(faultOf('a', 400), null, 'waiting costs nothing');
  t.match(faultOf('a', 401), /^takes 401 ms of the processor and 9000 in all: a file has 100/);
  t.equal(faultOf('dist/test/app/prepare.test.js', 401), null, 'an exception');
  t.end();
});
