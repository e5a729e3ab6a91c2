/** Where the secret key comes from. */

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadSecretKey } from '../../src/access/secret-key.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

t.test('embedded, the first start makes it and the second reads it', async (t) => {
  const DATA_DIR = join(temporaryDirectory(t), 'data');
  const made = await loadSecretKey({ DATA_DIR });
  t.ok(made.length >= 32);
  t.equal(await loadSecretKey({ DATA_DIR }), made);
  t.equal(statSync(join(DATA_DIR, 'secret.key')).mode & 0o777, 0o600);
  t.same(readdirSync(DATA_DIR), ['secret.key'], 'nothing else is left behind');
});

t.test('of many starts at once all have the same', async (t) => {
  const DATA_DIR = temporaryDirectory(t);
  const keys = await Promise.all(Array.from({ length: 8 }, () => loadSecretKey({ DATA_DIR })));
  t.equal(new Set(keys).size, 1);
  t.equal(readFileSync(join(DATA_DIR, 'secret.key'), 'utf8').trim(), keys[0]);
});

t.test(
  'a setting comes first; a database without one is refused; so is an empty file',
  async (t) => {
    const DATA_DIR = temporaryDirectory(t);
    t.equal(await loadSecretKey({ DATA_DIR, SECRET_KEY: 'set' }), 'set');
    await t.rejects(loadSecretKey({ DATA_DIR, DATABASE_URL: 'postgres://x' }), /SECRET_KEY/);
    writeFileSync(join(DATA_DIR, 'secret.key'), '');
    await t.rejects(loadSecretKey({ DATA_DIR }), /is empty/);
  },
);
