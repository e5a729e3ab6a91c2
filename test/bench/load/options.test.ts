/** The options of `npm run bench -- load`. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readOptions } from '../../../bench/load/options.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

t.test('what is wrong is said', async (t) => {
  const folder = temporaryDirectory(t);
  const demo = join(folder, 'demo.json');
  writeFileSync(
    demo,
    JSON.stringify({
      baseUrl: 'http://127.0.0.1:1',
      clientId: 'demo',
      appId: 1,
      tagIds: [2, 3],
      apiUser: { token: 'tca_a' },
      superUser: { token: 'tcs_b' },
    }),
  );
  const wrong = (args: readonly string[], sentence: string | RegExp) =>
    t.rejects(readOptions([`--demo=${demo}`, ...args], {}), { message: sentence });
  await wrong(['--profile=both'], /--profile: there are register, mixed, send; not both/);
  await wrong(['--seconds=0'], /--seconds: a whole number from 1 to 600/);
  await wrong(['--connections=1001'], /--connections/);
  await wrong(['--tags=1,x'], /--tags/);
  await wrong(['--url=ftp://127.0.0.1'], /--url: an http or https address/);
  await wrong(['--url=http://192.0.2.1'], /is not this machine.*--remote/);
  await wrong(['--nonsense'], /nonsense/);
  await t.rejects(readOptions([`--demo=${folder}/none.json`], {}), {
    message: /--url is missing, and there is no demo.json/,
  });
  t.match(await readOptions([`--demo=${demo}`, '--url=https://192.0.2.1/', '--remote'], {}), {
    baseUrl: 'https://192.0.2.1',
    token: 'tca_a',
    tagIds: [2, 3],
  });
  t.match(
    await readOptions([`--demo=${demo}`, '--profile=send', '--tags=9'], { LOAD_TOKEN: 'x' }),
    {
      token: 'x',
      tagIds: [9],
    },
  );
  t.equal(await readOptions(['--help'], {}), null);
});
