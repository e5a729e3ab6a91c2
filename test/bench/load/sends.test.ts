/** `npm run bench -- load` with pushes. */

import t from 'tap';
import { registerDevices } from '../../support/console.ts';
import { run, startLoaded } from '../../support/load-bench.ts';

t.test('against an engine', async (t) => {
  const { brief, report, devicesOf, demo } = await startLoaded(t);
  const [tagId = 0] = demo.tagIds;
  await registerDevices(demo, { platformId: 3, tagId, count: 50 });

  await t.test('a tag with many devices must be meant', async (t) => {
    t.match(await run([...brief, '--profile=send', '--audience-max=1']), {
      code: 2,
      output: '--audience-max=',
    });
  });

  await t.test('pushes are followed to their end', async (t) => {
    const args = [...brief, '--profile=send', '--rate=5', '--audience-max=5000'];
    const { code, output } = await run(args);
    t.equal(code, 0, output);
    const { sends, answered } = report();
    const { pushes = 0, finished = 0, succeeded = 0 } = sends ?? {};
    t.ok(pushes >= answered.answers, 'also those whose answer came too late');
    t.equal(finished, pushes);
    t.equal(succeeded, pushes * (await devicesOf()));
    t.ok(succeeded > 0);
  });
});
