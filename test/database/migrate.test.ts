/**
 * Migrations on every store: once each, also when two nodes start together, and beside nodes of
 * another version.
 */

import t from 'tap';
import type { Migration } from '../../src/database/migrate.ts';
import { MIGRATIONS, migrate } from '../../src/database/migrate.ts';
import { LAST_BEFORE_SCHEMA, SCHEMA } from '../../src/database/schema.ts';
import { connect } from '../../src/database/sql.ts';
import { openPostgres } from '../../src/database/store.ts';
import { untilReady } from '../support/client.ts';
import { migrationFaults } from '../support/migration-rule.ts';
import { until } from '../support/poll.ts';
import { runCommand, startEngine } from '../support/processes.ts';
import { withPostgres, withStores } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const NOTHING = { applied: [], ahead: [], isNew: false };

t.test('opening has migrated; migrating again applies nothing', async (t) => {
  await withStores(t, async (t, store) => {
    const [row] = await store.sql`select count(*) as tables from clients`;
    t.same(row, { tables: 0 });
    t.same(await migrate(store.sql), NOTHING);
  });
});

t.test('a new database is recorded as one that older nodes cannot make again', async (t) => {
  await withStores(t, async (t, { sql }) => {
    const recorded = await sql`select name, needs from migrations order by name`;
    const later = MIGRATIONS.map(({ name, needs = null }) => ({ name, needs }));
    t.same([...recorded], [{ name: SCHEMA, needs: SCHEMA }, ...later]);
  });
});

t.test('two nodes that start together apply each migration once', async (t) => {
  await withPostgres(t, async (t, url) => {
    const stores = await Promise.all([openPostgres(url), openPostgres(url)]);
    t.teardown(() => Promise.all(stores.map((store) => store.close())));
    const applied = stores.flatMap((store) => store.applied);
    t.same(applied, [...new Set(applied)]);
    t.ok(applied.length > 0, 'one of them applied them');
  });
});

t.test('beside nodes at work: after a deadlock it is tried again', async (t) => {
  await withPostgres(t, async (t, url) => {
    // A process looks for a deadlock once, this long after it began to wait: by then the other one
    // waits, on a busy machine too.
    const first = connect({ kind: 'postgres', url }, 1);
    await first.unsafe(
      `alter database "${new URL(url).pathname.slice(1)}" set deadlock_timeout = '3s'`,
    );
    await first.end();
    const store = await openPostgres(url);
    t.teardown(() => store.close());
    const { sql } = store;
    let migrated: ReturnType<typeof migrate> | null = null;
    await sql.begin(async (tx) => {
      await tx`set local deadlock_timeout = '1min'`;
      await tx`lock table migrations in access exclusive mode`;
      migrated = migrate(sql);
      await until('it waits for the table', async () => {
        const [waiting] = await tx`select from pg_locks where not granted`;
        return waiting === undefined ? null : true;
      });
      // Only the migration looks in time, finds the deadlock, and ends.
      await tx`select pg_advisory_xact_lock(7461671)`;
    });
    t.same(await migrated, NOTHING);
  });
});

/** A migration that a later version may bring. */
const ADDING: Migration = {
  name: '9001-adding',
  sql: 'alter table clients add column colour text',
};
const TAKING_AWAY: Migration = {
  name: '9002-taking-away',
  needs: ADDING.name,
  sql: 'alter table clients drop column name',
};

t.test('a dump holds a migration up, and nobody for long meanwhile', async (t) => {
  await withPostgres(t, async (t, url) => {
    const store = await openPostgres(url);
    t.teardown(() => store.close());
    const { sql } = store;
    let waits = 0;
    let isDone = false;
    let migrated: ReturnType<typeof migrate> | null = null;
    await sql.begin(async (dump) => {
      await dump`lock table clients in access share mode`;
      migrated = migrate(sql, {
        migrations: [...MIGRATIONS, ADDING],
        onWaiting() {
          waits += 1;
        },
      }).finally(() => {
        isDone = true;
      });
      await until('it gives way', () => (waits === 0 ? null : true));
      await sql`insert into clients (slug, name) values ('acme', 'Acme')`;
      t.notOk(isDone, 'a node at work goes before it');
    });
    t.same(await migrated, { applied: [ADDING.name], ahead: [], isNew: false });
    t.same(await sql`select slug, colour from clients`, [{ slug: 'acme', colour: null }]);
  });
});

t.test('a lock that does not end is a sentence, and nothing was applied', async (t) => {
  await withPostgres(t, async (t, url) => {
    const store = await openPostgres(url);
    t.teardown(() => store.close());
    const { sql } = store;
    await sql.begin(async (other) => {
      await other`lock table clients in access share mode`;
      const options = { migrations: [...MIGRATIONS, ADDING], patienceMs: 0 };
      await t.rejects(migrate(sql, options), /^DATABASE_URL: .+pg_locks.+\.$/);
    });
    t.same(await migrate(sql), NOTHING);
  });
});

t.test('a node of the version before starts on a newer schema, and says so', async (t) => {
  await withPostgres(t, async (t, url) => {
    await asLaterVersion(url, [ADDING]);
    const store = await openPostgres(url);
    t.teardown(() => store.close());
    t.same(store.ahead, [ADDING.name]);
    const engine = await startEngine(t, temporaryDirectory(t), settings(url));
    await untilReady(engine.baseUrl);
    t.match(engine.output(), /"ahead":\["9001-adding"\],"msg":"other nodes run a later version"/);
  });
});

t.test('a version that cannot work on the schema any more does not start', async (t) => {
  await withPostgres(t, async (t, url) => {
    await asLaterVersion(url, [ADDING, TAKING_AWAY]);
    const { code, output } = await runCommand(t, [], settings(url));
    t.equal(code, 1);
    const sentence = output.split('\n').find((line) => line.startsWith('DATABASE_URL: '));
    t.match(sentence, /a later version .+\(9002-taking-away\).+ one that knows 9001-adding/);
    // The version in between, which knows what is needed.
    const sql = connect({ kind: 'postgres', url }, 1);
    t.teardown(() => sql.end());
    t.same(await migrate(sql, { migrations: [...MIGRATIONS, ADDING] }), {
      applied: [],
      ahead: [TAKING_AWAY.name],
      isNew: false,
    });
  });
});

/** Leaves the database as the migrations before the schema did, up to the last one of these. */
async function asEarlierVersion(url: string, names: readonly string[]): Promise<void> {
  const sql = connect({ kind: 'postgres', url }, 1);
  await migrate(sql, { migrations: [] });
  await sql`delete from migrations`;
  await sql`insert into migrations ${sql(names.map((name) => ({ name })))}`;
  await sql`insert into clients (slug, name) values ('acme', 'Acme')`;
  await sql.end();
}

t.test('what all migrations before the schema made is taken as it is', async (t) => {
  await withPostgres(t, async (t, url) => {
    await asEarlierVersion(url, ['0001-main-job', LAST_BEFORE_SCHEMA]);
    const sql = connect({ kind: 'postgres', url }, 1);
    t.teardown(() => sql.end());
    const migrations = [...MIGRATIONS, ADDING];
    const applied = [SCHEMA, ...migrations.map(({ name }) => name)];
    t.same(await migrate(sql, { migrations }), { applied, ahead: [], isNew: false });
    t.same(await migrate(sql, { migrations }), NOTHING);
    t.same([...(await sql`select slug, colour from clients`)], [{ slug: 'acme', colour: null }]);
    const recorded = await sql`select name, needs from migrations order by name`;
    t.same(
      recorded.map(({ name, needs }) => [name, needs]),
      ['0001-main-job', LAST_BEFORE_SCHEMA, ...applied].map((name) => [name, null]),
      'nodes that know only those can be started again',
    );
  });
});

t.test('what only some of them made is refused, and left as it is', async (t) => {
  await withPostgres(t, async (t, url) => {
    await asEarlierVersion(url, ['0001-main-job', '0038-begun-counts']);
    const sql = connect({ kind: 'postgres', url }, 1);
    t.teardown(() => sql.end());
    // The first versions had no column for what is needed.
    await sql`alter table migrations drop column needs`;
    const sentence =
      /^DATABASE_URL or DATA_DIR: an early version .+ lacks 0039-clock-watch.+ commit [0-9a-f]{8} .+empty/;
    await t.rejects(migrate(sql), sentence);
    t.equal((await sql`select from migrations`).length, 2);
    t.equal((await sql`select from clients`).length, 1);
  });
});

t.test('a table of that name in another schema is not ours', async (t) => {
  await withPostgres(t, async (t, url) => {
    const owner = connect({ kind: 'postgres', url }, 1);
    t.teardown(() => owner.end());
    await owner`create table public.migrations (id integer)`;
    await owner`create schema tagcast`;
    const ours = `${url}${url.includes('?') ? '&' : '?'}search_path=tagcast,public`;
    const sql = connect({ kind: 'postgres', url: ours }, 1);
    t.teardown(() => sql.end());
    const applied = [SCHEMA, ...MIGRATIONS.map(({ name }) => name)];
    t.same(await migrate(sql), { applied, ahead: [], isNew: true });
    t.equal((await owner`select from tagcast.migrations`).length, applied.length);
  });
});

t.test('every migration keeps the rule of rolling upgrades', (t) => {
  t.same(MIGRATIONS.flatMap(migrationFaults), []);
  const names = [LAST_BEFORE_SCHEMA, SCHEMA, ...MIGRATIONS.map(({ name }) => name)];
  t.same(names, names.toSorted(), 'their names are in their order');
  t.end();
});

t.test('the rule finds what breaks it', (t) => {
  for (const sql of [
    'drop table chunks',
    'alter table clients drop column name',
    'alter table clients\n  -- why\n  rename column name to title',
    'alter table apps add column colour text, alter column name type varchar(10)',
    'alter table apps alter name set not null',
    'alter table apps add column colour text not null',
    'alter table apps add column colour uuid default gen_random_uuid()',
    'alter table apps add colour serial',
    'alter table apps add constraint named check (name <> $$$$)',
    'alter table apps drop constraint apps_pkey',
    'create unique index on apps (name)',
    'create index devices_by_age on devices (registered_at)',
    "update apps set name = ''",
    'delete from chunks',
    'alter type colour add value 1',
  ]) {
    t.equal(migrationFaults({ name: 'x', sql }).length, 1, sql);
    t.same(migrationFaults({ name: 'x', sql, needs: 'w' }), [], 'allowed when it says so');
  }
  for (const sql of [
    'create table colours (id integer primary key); create unique index on colours (id)',
    'alter table apps add column colour text check (colour in (1, 2)), alter name drop not null',
    'alter table apps add column colour smallint not null default 0',
    'alter table apps add constraint named check (colour > 0) not valid',
    'create index apps_by_name on apps (name); drop index apps_of_client',
  ]) {
    t.same(migrationFaults({ name: 'x', sql }), [], sql);
  }
  t.end();
});

const settings = (url: string): Readonly<Record<string, string>> => ({
  DATABASE_URL: url,
  SECRET_KEY: 'a secret for tests only, long enough',
});

/** Leaves the database as a node of a later version does. */
async function asLaterVersion(url: string, more: readonly Migration[]): Promise<void> {
  const store = await openPostgres(url);
  await migrate(store.sql, { migrations: [...MIGRATIONS, ...more] });
  await store.close();
}
