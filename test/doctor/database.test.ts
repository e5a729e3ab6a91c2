/** Beside a real PostgreSQL: empty, as an engine leaves it, and as an operator may spoil it. */

import t from 'tap';
import { createCredential } from '../../src/access/credentials.ts';
import { createSecrets } from '../../src/access/secrets.ts';
import { openPostgres } from '../../src/database/store.ts';
import { checkDatabase } from '../../src/doctor/database.ts';
import { secrets } from '../support/api.ts';
import { withPostgres } from '../support/store.ts';
import { makeTenant } from '../support/tenant.ts';

await withPostgres(t, async (t, url) => {
  const check = async (workers = 1, key = secrets) => {
    const { findings, sql, close } = await checkDatabase(url, workers, key);
    await close();
    return { findings, isUsable: sql !== null };
  };
  const levelOf = async (pattern: RegExp, workers = 1) => {
    const { findings } = await check(workers);
    return findings.find(({ text }) => pattern.test(text))?.level ?? null;
  };

  const empty = await check();
  t.equal(empty.isUsable, false);
  t.match(empty.findings.at(-1), { level: 'warning', text: /is empty/ });

  const store = await openPostgres(url);
  t.teardown(() => store.close());
  const { clientId } = await makeTenant(store.sql, 'doctor');
  const owner = { clientId, clientSlug: 'doctor', appId: null };
  await createCredential(store.sql, secrets, owner);
  t.equal((await check()).isUsable, true);
  t.equal(await levelOf(/up to date/), 'ok');
  t.equal(await levelOf(/^it fits the database/), 'ok');
  t.equal(await levelOf(/^max_connections/, 1_000), 'warning');
  const { findings } = await check(
    1,
    createSecrets('another key of thirty-two characters', undefined),
  );
  t.match(findings.at(-1), { about: 'SECRET_KEY', level: 'problem' });

  await store.sql`delete from migrations where name > (select min(name) from migrations)`;
  await store.sql`update migrations set name = '0039-clock-watch', needs = null`;
  await store.sql`insert into migrations (name) values ('9999-later')`;
  t.equal(await levelOf(/^it lacks \d+ migrations?:/), 'warning');
  t.equal(await levelOf(/later version.*9999-later/), 'warning');
  await store.sql`delete from migrations where name < '9999'`;
  t.equal(await levelOf(/an early version made this database/), 'problem');

  const [row] = await store.sql<{ name: string }[]>`select current_database() as name`;
  await store.sql.unsafe(`alter database "${row?.name}" set synchronous_commit to off`);
  t.equal(await levelOf(/synchronous_commit is off/), 'problem');
  await store.sql.unsafe(`alter database "${row?.name}" set default_transaction_read_only to on`);
  t.equal(await levelOf(/accepts no writes/), 'problem');
});

t.test('one that is not there', async (t) => {
  const { findings, sql, close } = await checkDatabase('postgres://127.0.0.1:1/x', 1, secrets);
  await close();
  t.equal(sql, null);
  t.match(findings, [{ level: 'problem', text: /nothing listens there/ }]);
});
