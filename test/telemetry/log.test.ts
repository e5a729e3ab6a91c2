/** Texts that never reach the log, from whichever code. */

import { spawnSync } from 'node:child_process';
import t from 'tap';
import { createLogger, flatLogger } from '../../src/telemetry/log.ts';

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

t.test('what a terminal would obey is escaped, and still is what it was', (t) => {
  const lines: string[] = [];
  const log = createLogger('info', 'test', { write: (line: string) => lines.push(line) });
  const name = '\u001b[2J\u009b2J\u202e\u007f\n\t';
  log.info({ name }, 'told');
  flatLogger(log).info({ name }, 'flat');
  for (const line of lines) {
    t.notMatch(line.trimEnd(), /[\p{Cc}\u202e]/u);
    t.equal(JSON.parse(line).name, name);
  }
  t.equal(lines.length, 2);
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
