/** `npm run bench -- load` with devices that register. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { run, startLoaded } from '../../support/load-bench.ts';

t.test('against an engine', async (t) => {
  const { brief, out, report, devicesOf } = await startLoaded(t);
  const before = await devicesOf();

  await t.test('devices register, and have no tags afterwards', async (t) => {
    t.match(await run([...brief, '--rate=200']), { code: 0, output: 'Unsubscribing' });
    const { answered, sends } = report();
    t.same(Object.keys(answered.statuses), ['200']);
    t.equal(answered.statuses['200'], answered.answers);
    t.equal(
      answered.samples.reduce((sum, sample) => sum + sample.answers, 0),
      answered.answers,
    );
    t.ok(answered.answers > 0);
    t.equal(sends, null);
    t.equal(await devicesOf(), before);
    const page = readFileSync(join(out, 'load.html'), 'utf8');
    t.match(page, 'new uPlot');
    t.notMatch(page, / (?:src|href)=/, 'it needs nothing from elsewhere');
  });

  await t.test('a mix of new, known and changing devices, which keep their tags', async (t) => {
    const { code, output } = await run([...brief, '--profile=mixed', '--rate=100', '--keep']);
    t.equal(code, 0, output);
    t.same(Object.keys(report().answered.statuses), ['200']);
    t.ok((await devicesOf()) > before);
  });

  await t.test('a refusal is told with its reason', async (t) => {
    const refused = await run([...brief, '--profile=register'], { LOAD_APP_TOKEN: 'tca_wrong' });
    t.match(refused, { code: 1, output: 'answered 401' });
    t.match(refused.output, 'There is no such credential.');
  });
});
