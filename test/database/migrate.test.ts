/**
 * Migrations on every store: once each, also when two nodes start together, and beside nodes of
 * another version.
 */

import t from 'tap';
import type { Migration } from '../../src/database/migrate.ts';
import { MIGRATIONS, migrate } from '../../src/database/migrate.ts';
import { connect } from '../../src/database/sql.ts';
import { openPostgres } from '../../src/database/store.ts';
import { migrationFaults } from '../support/migration-rule.ts';
import { becomesOneRowEach } from '../support/one-row-migration.ts';
import { until } from '../support/poll.ts';
import { runCommand, startEngine } from '../support/processes.ts';
import { withPostgres, withStores } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const NOTHING = { applied: [], ahead: [] };

t.test('opening has migrated; migrating again applies nothing', async (t) => {
  await withStores(t, async (t, store) => {
    const [row] = await store.sql`select count(*) as tables from clients`;
    t.same(row, { tables: 0 });
    t.same(await migrate(store.sql), NOTHING);
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
    const store = await openPostgres(url);
    t.teardown(() => store.close());
    const { sql } = store;
    let migrated: ReturnType<typeof migrate> | null = null;
    await sql.begin(async (tx) => {
      await tx`lock table migrations in access exclusive mode`;
      migrated = migrate(sql);
      await until('it waits for the table', async () => {
        const [waiting] = await tx`select from pg_locks where not granted`;
        return waiting === undefined ? null : true;
      });
      // It began to wait first, so it is the one that finds the deadlock and ends.
      await tx`select pg_advisory_xact_lock(7461671)`;
    });
    t.same(await migrated, NOTHING);
  });
});

/** What a later version may bring. */
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
    t.same(await migrated, { applied: [ADDING.name], ahead: [] });
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
    t.equal((await fetch(`${engine.baseUrl}/readyz`)).status, 200);
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
    });
  });
});

t.test('every migration keeps the rule of rolling upgrades', (t) => {
  t.same(MIGRATIONS.flatMap(migrationFaults), []);
  t.same(
    MIGRATIONS.map(({ name }) => name),
    MIGRATIONS.map(({ name }) => name).sort(),
    'their names are in their order',
  );
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

t.test(
  'devices and subscriptions of the version before become one row each, and nothing is lost',
  (t) => becomesOneRowEach(t, 3_000),
);

t.test('what a node of the version before commits while 0012 begins is not lost', async (t) => {
  await withPostgres(t, async (t, url) => {
    const sql = connect({ kind: 'postgres', url }, 3);
    t.teardown(() => sql.end());
    await migrate(sql, { migrations: MIGRATIONS.filter(({ name }) => name < '0012') });
    let commit = (): void => undefined;
    const committed = new Promise<void>((resolve) => {
      commit = resolve;
    });
    let hasWritten = false;
    const before = sql.begin(async (tx) => {
      await tx`
        insert into devices (app_id, platform_id, ordinal, device_key, device_id, registered_at)
        values (1, 3, 0, md5('a')::uuid, 'a', now())`;
      await tx`insert into subscriptions (app_id, platform_id, tag_id, ordinal) values (1, 3, 7, 0)`;
      hasWritten = true;
      await committed;
    });
    await until('it has written', () => (hasWritten ? true : null));
    const migrated = migrate(sql);
    await until('the migration waits for it', async () => {
      const [row] = await sql<{ waiting: number }[]>`
        select count(*) as waiting from pg_locks
        where not granted and relation = any (array['devices'::regclass, 'subscriptions'::regclass])`;
      return row?.waiting === 0 ? null : true;
    });
    commit();
    await before;
    await migrated;
    const devices = await sql`select device_id as "deviceId", tag_ids as "tagIds" from devices`;
    t.same([...devices], [{ deviceId: 'a', tagIds: [7] }]);
  });
});
