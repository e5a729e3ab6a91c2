/** What of a process's descriptors callers may take. */

import { execFileSync } from 'node:child_process';
import t from 'tap';
import { CONNECTIONS_MAX, connectionsMaxOf } from '../../../src/http/front/descriptors.ts';

t.test('half of few, all but a reserve of many, never more than memory is for', (t) => {
  t.equal(connectionsMaxOf(512), 256);
  t.equal(connectionsMaxOf(1_024), 512);
  t.equal(connectionsMaxOf(10_240), 6_144);
  t.equal(connectionsMaxOf(1_048_576), CONNECTIONS_MAX);
  t.end();
});

t.test('the limit is that of the process', (t) => {
  const module = new URL('../../../src/http/front/descriptors.js', import.meta.url).href;
  const script = `import { descriptorsMax } from ${JSON.stringify(module)}; console.log(descriptorsMax());`;
  const shell = `ulimit -n 600 && exec "${process.execPath}" --input-type=module --eval '${script}'`;
  t.equal(execFileSync('bash', ['-c', shell], { encoding: 'utf8' }).trim(), '600');
  t.end();
});
