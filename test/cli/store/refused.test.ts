/** The command refuses places that cannot be, each in one sentence, without a password. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openEmbedded, openPostgres } from '../../../src/database/store.ts';
import { makeTenant } from '../../support/notifications.ts';
import { runHere } from '../../support/run-here.ts';
import { seedEmbedded, withPostgres } from '../../support/store.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const SECRET_KEY = 'x'.repeat(32);
/** Nothing listens there. */
const NOWHERE = 'postgres://tagcast:Pa55word@127.0.0.1:1/none';

type Settings = Readonly<Record<string, string>>;

const move = (to: string, settings: Settings) => runHere(['store', 'move', '--to', to], settings);

t.test('places that cannot be', async (t) => {
  const dataDir = temporaryDirectory(t);
  const refused = async (to: string, settings: Settings, line: RegExp) => {
    const { code, errors } = await move(to, settings);
    t.equal(code, 1);
    t.match(errors, /^[^\n]+\.\n$/, 'one line');
    t.match(errors, line);
    t.notMatch(errors, 'Pa55word');
  };
  await refused(NOWHERE, { DATA_DIR: dataDir }, /^DATA_DIR: there is no embedded database in/);
  seedEmbedded(dataDir);
  const store = await openEmbedded(dataDir, { fsync: false });
  await store.close();
  await refused(NOWHERE, { DATA_DIR: dataDir }, /^--to: .*127\.0\.0\.1:1\/none: nothing listens/);
  await refused('postgres://a:b:c@[', { DATA_DIR: dataDir }, /^--to: must be a URL/);
  const onPostgres = { DATABASE_URL: NOWHERE, SECRET_KEY };
  await refused(NOWHERE, onPostgres, /^DATABASE_URL: it is set, .*pg_dump/);
  await refused('./copy', { DATA_DIR: dataDir }, /^--to: it is a directory, and DATABASE_URL/);
  await refused(join(dataDir, 'copy'), onPostgres, /^DATABASE_URL: .*: nothing listens/);
  t.match(await runHere(['store', 'move'], {}), { code: 2, errors: /--to is missing/ });
});

await withPostgres(t, async (t, url) => {
  const store = await openPostgres(url);
  await makeTenant(store.sql, 'acme');
  await store.close();
  const onPostgres = { DATABASE_URL: url, SECRET_KEY };

  await t.test('a directory with another key, or with a client', async (t) => {
    const copy = join(temporaryDirectory(t), 'copy');
    mkdirSync(copy);
    seedEmbedded(copy);
    writeFileSync(join(copy, 'secret.key'), `${'y'.repeat(32)}\n`);
    const other = await move(copy, onPostgres);
    t.match(other, { code: 1, errors: /--to: .*secret\.key is not SECRET_KEY/ });
    writeFileSync(join(copy, 'secret.key'), `${SECRET_KEY}\n`);
    const copied = await runHere(['store', 'move', '--json', '--to', copy], onPostgres);
    t.equal(copied.code, 0, copied.output);
    const json = copied.output.slice(copied.output.indexOf('{'));
    t.match(JSON.parse(json), { kind: 'directory', dataDir: copy });
    t.match(await move(copy, onPostgres), {
      code: 1,
      errors: /--to: .* in use already, with 1 clients/,
    });
    t.match(await move(url, { DATA_DIR: copy }), { code: 1, errors: /--to: .* in use already/ });
  });
});
