/** Lines of a turn are one write, and none is lost when the process ends. */

import { spawnSync } from 'node:child_process';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { gatheredLines } from '../../src/telemetry/gathered-lines.ts';

t.test('a turn is one write; many lines do not wait for its end', async (t) => {
  const writes: string[] = [];
  const lines = gatheredLines({ write: (text: string) => writes.push(text) });
  lines.write('1\n');
  lines.write('2\n');
  t.same(writes, []);
  await nextTurn();
  await nextTurn();
  t.same(writes, ['1\n2\n']);
  lines.write('3\n');
  const long = 'x'.repeat(65_536);
  lines.write(long);
  t.same(writes.slice(1), [`3\n${long}`]);
  await nextTurn();
  await nextTurn();
  t.equal(writes.length, 2);
});

t.test('lines of the last turn are written, however the process ends', (t) => {
  const module = JSON.stringify(new URL('../../src/telemetry/gathered-lines.js', import.meta.url));
  for (const end of ['process.exit(3)', 'throw new Error("nobody catches it")', '']) {
    const script = `
      import { gatheredLines } from ${module};
      gatheredLines().write('the last line\\n');
      ${end}`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      encoding: 'utf8',
    });
    t.equal(stdout, 'the last line\n', end);
  }
  t.end();
});
