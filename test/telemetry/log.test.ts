/** What never reaches the log, whoever logs it. */

import { spawnSync } from 'node:child_process';
import t from 'tap';

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
