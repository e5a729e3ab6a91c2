/** config/tagcast.service: systemd understands every line of it, and finds it closed. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT } from '../support/documents.ts';
import { findProgram, runProgram } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** systemd's own scale is from 0 to 10, "OK" below 5; a service without a line of it has 9.6. */
const EXPOSURE_MAX = 2;

const analyze = findProgram('systemd-analyze');
const options = { skip: analyze === null && 'systemd-analyze is not installed' };

t.test('systemd takes the unit as it is', options, async (t) => {
  // The unit names Debian's Node.js, which a machine of tests may have elsewhere.
  const unit = readFileSync(join(ROOT, 'config', 'tagcast.service'), 'utf8').replace(
    '/usr/bin/node',
    process.execPath,
  );
  const file = join(temporaryDirectory(t), 'tagcast.service');
  writeFileSync(file, unit);
  const verified = await runProgram(t, analyze ?? '', ['verify', file]);
  t.equal(verified.err, '');
  t.equal(verified.code, 0);
});

t.test('it may do little else than serve', options, async (t) => {
  const file = join(ROOT, 'config', 'tagcast.service');
  const { out } = await runProgram(t, analyze ?? '', ['security', '--offline=true', file]);
  const [, exposure] = /exposure level for tagcast.service: ([\d.]+)/.exec(out.toString()) ?? [];
  t.ok(Number(exposure) <= EXPOSURE_MAX, `exposure ${exposure}`);
});
