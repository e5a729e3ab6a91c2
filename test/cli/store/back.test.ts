/** The way back: a directory gets all that a PostgreSQL has, with its key, for another engine. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { runCommand, startEngine } from '../../support/processes.ts';
import { seedEmbedded, withPostgres } from '../../support/store.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { answersOf, makeScene, SETTINGS } from './scene.ts';

await withPostgres(t, async (t, url) => {
  const key = 'a secret key of this test, long enough';
  const onPostgres = { ...SETTINGS, DATABASE_URL: url, SECRET_KEY: key };
  const dataDir = temporaryDirectory(t);
  seedEmbedded(dataDir);
  const before = await startEngine(t, dataDir, onPostgres);
  t.match(
    before.output(),
    /this database was empty, and DATA_DIR holds an embedded one: tagcast store/,
  );
  const scene = await makeScene(t, before);
  const answers = await answersOf(before, scene);

  const copy = temporaryDirectory(t);
  seedEmbedded(copy);
  const running = await runCommand(t, ['store', 'move', '--to', copy], onPostgres);
  t.match(running, { code: 1, errors: /DATABASE_URL: an engine is at work on this database/ });
  t.equal(await before.end('SIGTERM'), 0);

  const mistaken = { ...onPostgres, SECRET_KEY: 'y'.repeat(32) };
  const unread = await runCommand(t, ['store', 'move', '--to', copy], mistaken);
  t.match(unread, { code: 1, errors: /^SECRET_KEY: this is key .+ were encrypted with/m });
  t.notOk(existsSync(join(copy, 'secret.key')), 'the wrong key is not kept');

  const moved = await runCommand(t, ['store', 'move', '--to', copy], onPostgres);
  t.equal(moved.code, 0, moved.output);
  t.equal(readFileSync(join(copy, 'secret.key'), 'utf8').trim(), key);
  const after = await startEngine(t, copy, { ...SETTINGS, DEMO: '0' });
  t.same(await answersOf(after, scene), answers);
});
