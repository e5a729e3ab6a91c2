/**
 * The command as an operator uses it: what an engine on the embedded database answers, an engine on
 * PostgreSQL answers after the move; what was scheduled and paused goes on there.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { PLATFORMS } from '../../../packages/std/src/platforms.ts';
import { finalStatus, status } from '../../support/client.ts';
import type { EngineProcess } from '../../support/processes.ts';
import { runCommand, startEngine } from '../../support/processes.ts';
import { seedEmbedded, withPostgres } from '../../support/store.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { Scene } from './scene.ts';
import { answersOf, ask, bearer, DEVICES, makeScene, NOTIFICATIONS, SETTINGS } from './scene.ts';

await withPostgres(t, async (t, url) => {
  const dataDir = temporaryDirectory(t);
  seedEmbedded(dataDir);
  const before = await startEngine(t, dataDir, SETTINGS);
  const scene = await makeScene(t, before);
  const answers = await answersOf(before, scene);
  t.ok(Object.keys(answers).length > 40, 'much is asked');
  const running = await runCommand(t, ['store', 'move', '--to', url], { DATA_DIR: dataDir });
  t.match(running, { code: 1, errors: /^DATA_DIR: .+ already running, pid \d+\.\n$/ });
  t.equal(await before.end('SIGTERM'), 0);

  const moved = await runCommand(t, ['store', 'move', '--to', url], { DATA_DIR: dataDir });
  t.equal(moved.code, 0, moved.output);
  const keyFile = join(dataDir, 'secret.key');
  const key = readFileSync(keyFile, 'utf8').trim();
  t.match(moved.output, /Copying\.\n[\s\S]+\d+ rows of \d+ tables were copied, and compared/);
  t.ok(moved.output.includes(keyFile), 'it says where the key is');
  t.notOk(moved.output.includes(key), 'and not the key');

  const onPostgres = { ...SETTINGS, DATABASE_URL: url, SECRET_KEY: key };
  const after = await startEngine(t, temporaryDirectory(t), onPostgres);
  t.same(await answersOf(after, scene), answers);
  await goesOn(t, after, scene);
});

/** Jobs that waited are sent from there, and each credential is what it was. */
async function goesOn(t: Test, { baseUrl }: EngineProcess, scene: Scene): Promise<void> {
  const { demo, keyToken, scheduled, paused, page } = scene;
  const headers = bearer(demo.superUser.token);
  const [waiting] = await status(baseUrl, demo, scheduled);
  t.equal(waiting?.state, 'SCHEDULED');
  const past = { sendAt: '2020-01-01T12:00:00Z' };
  for (const job of [scheduled, paused]) {
    const changed = await ask(`${baseUrl}${NOTIFICATIONS}/${job}`, headers, past, 'PATCH');
    t.equal(changed.status, 200, changed.text);
  }
  const resumed = await ask(`${baseUrl}${NOTIFICATIONS}/${paused}/resume`, headers, {});
  t.equal(resumed.status, 200, resumed.text);
  for (const job of [scheduled, paused]) {
    const rows = await finalStatus(baseUrl, demo, job);
    const reached = rows.reduce((sum, { successCount }) => sum + successCount, 0);
    t.equal(reached, DEVICES.length, JSON.stringify(rows));
  }
  const sent = await ask(`${baseUrl}${NOTIFICATIONS}`, bearer(keyToken), {
    tagIds: demo.tagIds,
    payload: { title: 'by the key' },
  });
  t.ok(sent.status < 300, sent.text);
  await finalStatus(baseUrl, demo, JSON.parse(sent.text).id);
  const invited = await ask(`${baseUrl}/console/api/members`, page, { role: 'publisher' });
  t.ok(invited.status < 300, invited.text);
  const known = await ask(`${baseUrl}/push-api/reg`, bearer(demo.apiUser.token), {
    appId: demo.appId,
    platformId: PLATFORMS.fcm,
    deviceId: 'a new phone',
    tagId: demo.tagIds[0],
  });
  t.equal(known.text, 'OK', 'the token in the shipped app');
}
