/** The command line of the benches. */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';

const RUN = join(import.meta.dirname, '../../bench/run.js');

const run = (...args: readonly string[]) =>
  spawnSync(process.execPath, [RUN, ...args], { encoding: 'utf8' });

t.test('--help tells how it is called', (t) => {
  const { status, stdout } = run('--help');
  t.equal(status, 0);
  t.match(stdout, /npm run bench -- register fan-out/);
  t.end();
});

t.test('what it does not know is named, without a stack', (t) => {
  const option = run('register', '--jsn=x');
  t.equal(option.status, 2);
  t.match(option.stderr, /^Unknown option '--jsn'[\s\S]*npm run bench -- load --help/);
  t.notMatch(option.stderr, / at .*\.js:/);
  const scenario = run('registr');
  t.equal(scenario.status, 2);
  t.match(scenario.stderr, /^No such scenario: registr\. There are: .*register/);
  t.end();
});
