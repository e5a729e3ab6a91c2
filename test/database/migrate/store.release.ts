/**
 * Writes the database of this version into test/vectors/releases, with a thing of every kind in it:
 * `npm run release:dump`, once for each release.
 */

import { randomBytes } from 'node:crypto';
import t from 'tap';
import { DEVICES, makeScene, SETTINGS } from '../../cli/store/scene.ts';
import { readText } from '../../support/documents.ts';
import { startEngine } from '../../support/processes.ts';
import { writeRelease } from '../../support/releases.ts';
import { withPostgres } from '../../support/store.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const { version } = JSON.parse(readText('package.json')) as { readonly version: string };

await withPostgres(t, async (t, url) => {
  const secretKey = randomBytes(32).toString('hex');
  const settings = { ...SETTINGS, DATABASE_URL: url, SECRET_KEY: secretKey };
  const engine = await startEngine(t, temporaryDirectory(t), settings);
  const { demo, keyToken, finished, scheduled } = await makeScene(t, engine);
  t.equal(await engine.end('SIGTERM'), 0);
  const { appId, superUser, apiUser } = demo;
  const tokens = { superUserToken: superUser.token, apiUserToken: apiUser.token, keyToken };
  const jobs = { finished, scheduled };
  writeRelease(version, url, { secretKey, ...tokens, appId, deviceIds: DEVICES, ...jobs });
});
