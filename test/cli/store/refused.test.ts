/** The command refuses places that cannot be, each in one sentence, without a password. */

import { chownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { onEmbedded } from '../../../src/database/move/embedded-end.ts';
import { READING } from '../../../src/database/move/end.ts';
import { SCHEMA } from '../../../src/database/schema.ts';
import type { Sql } from '../../../src/database/sql.ts';
import { connect } from '../../../src/database/sql.ts';
import { openEmbedded, openPostgres } from '../../../src/database/store.ts';
import { makeTenant } from '../../support/notifications.ts';
import { runHere } from '../../support/run-here.ts';
import { seedEmbedded, withPostgres } from '../../support/store.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const SECRET_KEY = 'x'.repeat(32);
/** Nothing listens there. */
const NOWHERE = 'postgres://tagcast:Pa55word@127.0.0.1:1/none';

const EXIT_USAGE = 2;

type Settings = Readonly<Record<string, string>>;

const move = (to: string, settings: Settings) => runHere(['store', 'move', '--to', to], settings);

t.test('places that cannot be', async (t) => {
  const dataDir = temporaryDirectory(t);
  const refused = async (to: string, settings: Settings, line: RegExp, exitCode = 1) => {
    const { code, errors } = await move(to, settings);
    t.equal(code, exitCode);
    t.match(errors, /^[^\n]+\.\n$/, 'one line');
    t.match(errors, line);
    t.notMatch(errors, 'Pa55word');
  };
  await refused(NOWHERE, { DATA_DIR: dataDir }, /^DATA_DIR: there is no embedded database in/);
  seedEmbedded(dataDir);
  const store = await openEmbedded(dataDir, { fsync: false });
  await store.close();
  await refused(NOWHERE, { DATA_DIR: dataDir }, /^--to: .*127\.0\.0\.1:1\/none: nothing listens/);
  await refused('postgres://a:b:c@[', { DATA_DIR: dataDir }, /^--to: must be a URL/, EXIT_USAGE);
  const onPostgres = { DATABASE_URL: NOWHERE, SECRET_KEY };
  await refused(NOWHERE, onPostgres, /^DATABASE_URL: it is set, .*pg_dump/);
  for (const scheme of ['postgress', ' postgres', 'mysql+ssl', 'file']) {
    const url = `${scheme}://tagcast:Pa55word@h/db`;
    await refused(url, onPostgres, /^--to: it is a URL, but none of a PostgreSQL/, EXIT_USAGE);
  }
  await refused('./copy', { DATA_DIR: dataDir }, /^--to: it is a directory, and DATABASE_URL/);
  await refused(join(dataDir, 'copy'), onPostgres, /^DATABASE_URL: .*: nothing listens/);
  t.match(await runHere(['store', 'move'], {}), { code: 2, errors: /--to is missing/ });
});

t.test('the directory of another user is not touched', async (t) => {
  const dataDir = temporaryDirectory(t);
  seedEmbedded(dataDir);
  if (process.geteuid?.() === 0) chownSync(join(dataDir, 'postgres'), 1, 1);
  else t.intercept(process, 'geteuid', { value: () => 0 });
  const before = readdirSync(dataDir);
  const sentence = (setting: string) =>
    new RegExp(`^${setting}: .* is of the user \\w+, .*\\(runuser -u \\w+ -- tagcast store move`);
  const away = await move(NOWHERE, { DATA_DIR: dataDir });
  t.match(away, { code: 1, errors: sentence('DATA_DIR') });
  const back = await move(dataDir, { DATABASE_URL: NOWHERE, SECRET_KEY });
  t.match(back, { code: 1, errors: sentence('--to') });
  t.same(readdirSync(dataDir), before);
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
      errors: /--to: .* in use already, with 1 client /,
    });
    t.match(await move(url, { DATA_DIR: copy }), { code: 1, errors: /--to: .* in use already/ });
  });
});

/** It lacks each migration, as a database of an older version does. */
const makeOlder = (sql: Sql) => sql`delete from migrations where name > ${SCHEMA}`;

const tablesOf = (sql: Sql) => sql`
  select relname from pg_class where relnamespace = 'public'::regnamespace order by 1`;

await withPostgres(t, async (t, url) => {
  const dataDir = temporaryDirectory(t);
  seedEmbedded(dataDir);
  await (await openEmbedded(dataDir, { fsync: false })).close();
  const sql = connect({ kind: 'postgres', url }, 1);
  t.teardown(() => sql.end());

  await t.test('the database of another application gets no tables', async (t) => {
    await sql`create table migrations (id integer, migration text)`;
    await sql`insert into migrations values (1, '2014_users')`;
    await sql`create table users (id integer)`;
    const before = await tablesOf(sql);
    const line = /^--to: this database is not empty, and its tables \(migrations, users\) are not/;
    t.match(await move(url, { DATA_DIR: dataDir }), { code: 1, errors: line });
    t.same(await tablesOf(sql), before);
    await sql`drop table migrations, users`;
  });

  await t.test('a database on which an older version works is not migrated', async (t) => {
    const store = await openPostgres(url);
    await store.close();
    await makeOlder(sql);
    await makeTenant(sql, 'acme');
    const before = await sql`select * from migrations`;
    const line = /^--to: this database is not empty, and its tables \([^)]+, …\) are not/;
    t.match(await move(url, { DATA_DIR: dataDir }), { code: 1, errors: line });
    t.same(await sql`select * from migrations`, before);
  });
});

await withPostgres(t, async (t, url) => {
  const line = /^DATABASE_URL: this database has no tables of Tagcast/;
  const unfilled = await move(temporaryDirectory(t), { DATABASE_URL: url, SECRET_KEY });
  t.match(unfilled, { code: 1, errors: line }, 'a source without tables');
  const store = await openPostgres(url);
  await store.close();

  await t.test('nor is a directory of an older version', async (t) => {
    const dataDir = temporaryDirectory(t);
    seedEmbedded(dataDir);
    const older = await openEmbedded(dataDir, { fsync: false });
    await makeOlder(older.sql);
    await older.close();
    const refused = await move(dataDir, { DATABASE_URL: url, SECRET_KEY });
    t.match(refused, { code: 1, errors: /^--to: this database is not empty, and its tables/ });
    const place = { dataDir, fsync: false, setting: '--to', mode: READING };
    const names = await onEmbedded(place, (end) => end.read('select name from migrations'));
    t.same(names, [{ name: SCHEMA }]);
  });
});
