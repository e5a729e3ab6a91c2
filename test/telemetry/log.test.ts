/** What never reaches the log, whoever logs it. */

import { spawnSync } from 'node:child_process';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { createLogger, flatLogger, linesByTurn } from '../../src/telemetry/log.ts';

t.test('device tokens that PostgreSQL quotes in an error are taken out', (t) => {
  const script = `
    import { createLogger } from ${JSON.stringify(new URL('../../src/telemetry/log.js', import.meta.url).href)};
    const detail = 'Failing row contains (1, 3, a-token-of-a-device).';
    const err = Object.assign(new Error('violates not-null constraint'), { code: '23502', detail });
    createLogger('info', 'test').error({ err }, 'not committed');`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
  });
  const line = JSON.parse(stdout);
  t.match(line, { msg: 'not committed', err: { code: '23502', detail: '[redacted]' } });
  t.notMatch(stdout, /a-token-of-a-device/);
  t.end();
});

t.test('of a flat line too, and those of the logger that it came from still', (t) => {
  const lines: string[] = [];
  const log = createLogger('info', 'test', { write: (line: string) => lines.push(line) });
  flatLogger(log).info({ token: 'secret-1', deviceId: 'secret-2', requestId: 'r-1' }, 'flat');
  log.info({ within: { token: 'secret-3' } }, 'deep');
  const [flat, deep] = lines.map((line) => JSON.parse(line));
  t.match(flat, { msg: 'flat', token: '[redacted]', deviceId: '[redacted]', requestId: 'r-1' });
  t.match(deep, { msg: 'deep', within: { token: '[redacted]' } });
  t.end();
});

t.test('the lines of a turn are one write, in their order', async (t) => {
  const blocks: string[] = [];
  const log = createLogger('info', 'test', linesByTurn({ write: (text) => blocks.push(text) }));
  for (const n of [1, 2, 3]) log.info({ n }, 'a line');
  t.same(blocks, []);
  await nextTurn();
  t.same(blocks.map(numbersOf), [[1, 2, 3]]);
  log.info({ n: 4 }, 'the next turn');
  await nextTurn();
  t.same(blocks.map(numbersOf), [[1, 2, 3], [4]]);
  // Much more than one write takes at once.
  for (let n = 0; n < 2_000; n += 1) log.info({ n }, 'x'.repeat(100));
  t.ok(blocks.length > 3, 'a turn that says much does not keep it all');
  await nextTurn();
  t.same(blocks.slice(2).flatMap(numbersOf), [...Array(2_000).keys()]);
});

const numbersOf = (block: string): readonly number[] =>
  block
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).n);

for (const [how, end] of [
  ['an exit', 'process.exit(3)'],
  ['an error that nobody catches', `throw new Error('a surprise')`],
  ['the end of its work', ''],
] as const) {
  t.test(`${how} in the same turn writes what was said before`, (t) => {
    const script = `
      import { createLogger } from ${JSON.stringify(new URL('../../src/telemetry/log.js', import.meta.url).href)};
      createLogger('info', 'test').info('the last words');
      ${end}`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      encoding: 'utf8',
    });
    t.match(JSON.parse(stdout), { msg: 'the last words' });
    t.end();
  });
}
