/** The share of a process's descriptors that callers may take. */

import { execFileSync } from 'node:child_process';
import t from 'tap';
import {
  CONNECTIONS_MAX,
  connectionsMaxOf,
  databaseFilesMaxOf,
  EMBEDDED_DESCRIPTORS_MIN,
} from '../../src/std/descriptors.ts';

t.test('half of few, all but a reserve of many, never more than memory is for', (t) => {
  t.equal(connectionsMaxOf(512, false), 256);
  t.equal(connectionsMaxOf(1_024, false), 512);
  t.equal(connectionsMaxOf(10_240, false), 6_144);
  t.equal(connectionsMaxOf(1_048_576, false), CONNECTIONS_MAX);
  t.end();
});

t.test('an embedded database has its files before, and a part is left for the rest', (t) => {
  t.equal(databaseFilesMaxOf(512), 128);
  t.equal(connectionsMaxOf(512, true), 192);
  t.equal(databaseFilesMaxOf(1_048_576), 1_000, "PostgreSQL's default");
  for (let limit = EMBEDDED_DESCRIPTORS_MIN; limit < 100_000; limit += 97) {
    const files = databaseFilesMaxOf(limit);
    t.ok(files >= 64, 'PostgreSQL accepts it');
    const rest = limit - files - connectionsMaxOf(limit, true);
    if (rest < EMBEDDED_DESCRIPTORS_MIN / 3) t.fail(`${rest} of ${limit} for the rest`);
  }
  t.end();
});

t.test('the limit is that of the process', (t) => {
  const module = new URL('../../src/std/descriptors.js', import.meta.url).href;
  const script = `import { descriptorsMax } from ${JSON.stringify(module)}; console.log(descriptorsMax());`;
  const shell = `ulimit -n 600 && exec "${process.execPath}" --input-type=module --eval '${script}'`;
  t.equal(execFileSync('bash', ['-c', shell], { encoding: 'utf8' }).trim(), '600');
  t.end();
});
