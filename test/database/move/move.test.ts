/** Rows that move from an embedded database to a PostgreSQL, and what stops them. */

import type { Test } from 'tap';
import t from 'tap';
import { onEmbedded } from '../../../src/database/move/embedded-end.ts';
import type { End } from '../../../src/database/move/end.ts';
import { READING, WRITING } from '../../../src/database/move/end.ts';
import type { Moved, MoveReport } from '../../../src/database/move/move.ts';
import { moveRows } from '../../../src/database/move/move.ts';
import { onPostgres } from '../../../src/database/move/postgres-end.ts';
import type { Sql, SqlPool } from '../../../src/database/sql.ts';
import type { Store } from '../../../src/database/store.ts';
import { openEmbedded, openPostgres } from '../../../src/database/store.ts';
import { filledTables } from '../../support/empty-database.ts';
import { makeNotification, makeRunning, makeTenant } from '../../support/notifications.ts';
import { seedEmbedded, withPostgres } from '../../support/store.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const SILENT: MoveReport = { step: () => undefined, copied: () => undefined };

/** More than one piece of the largest table. */
const DEVICES = 30_000;

/** Octets of a value, and rows that have one: some pieces, in fewer pages than one piece has. */
const LARGE = 4_096;
const LARGE_ROWS = 4_000;
const PIECE = 512 * 8_192;

/** Moves from a directory to a database that has the tables. */
const move = (
  dataDir: string,
  url: string,
  report: MoveReport = SILENT,
  seen: (end: End) => End = (end) => end,
): Promise<Moved> =>
  onEmbedded({ dataDir, fsync: false, setting: 'DATA_DIR', mode: READING }, (source) =>
    onPostgres({ address: { kind: 'postgres', url }, setting: '--to', mode: WRITING }, (target) =>
      moveRows(seen(source), target, report),
    ),
  );

/** Not the whole schema's mark: PostgreSQL may analyze a table at any moment. */
const triggersOf = (sql: SqlPool) => sql<{ trigger: string }[]>`
  select format('%s %s %s', tgname, tgrelid::regclass, tgenabled) as trigger
  from pg_trigger where not tgisinternal order by 1`;

/** Rows with values that a conversion may spoil, in tables of every kind. */
async function fill(sql: SqlPool): Promise<void> {
  const tenant = await makeTenant(sql, 'acme');
  const { clientId, appId, tagId } = tenant;
  const job = await makeRunning(sql, tenant, DEVICES);
  const odd = 'a\tb\\c\n"d", {e} é 🎉';
  await sql`update clients set limits = '{"devices": 5, "a": 0.1}', name = ${odd}, disabled_at = '-infinity'`;
  // A parent that comes after its child in the table's file, as an update leaves it.
  const [group] = await sql<{ id: number }[]>`
    insert into tag_groups (client_id, name) values (${clientId}, 'Parent') returning id`;
  await sql`insert into tag_groups (client_id, name, parent_id) values (${clientId}, ${odd}, ${group?.id ?? 0})`;
  await sql`update tag_groups set name = 'Moved' where parent_id is null`;
  await sql`
    insert into client_keys (client_id, name, username, token_hash, token_sealed, key_id, scopes, tag_ids, app_ids)
    values (${clientId}, ${odd}, 'key', '\\x00ff5c', '\\x', 'k', array['send', ${odd}], '{}', ${[appId]}::integer[])`;
  const [account] = await sql<{ id: number }[]>`
    insert into accounts (email) values ('a@example.com') returning id`;
  await sql`insert into memberships (client_id, account_id, role) values (${clientId}, ${account?.id ?? 0}, 'owner')`;
  await sql`
    insert into provider_quotas (key, permits, ramp_ms) values ('q', 0.1::float8 + 0.2::float8, 1e-310)`;
  await sql`
    insert into app_parameters (app_id, platform_id, parameters) values (${appId}, 3, ' {"b" : 1,  "a":"\\u0001"} ')`;
  await sql`insert into app_templates (app_id, platform_id, expression) values (${appId}, 3, ${odd})`;
  await sql`
    insert into retries (notification_id, app_id, platform_id, ordinal, attempts, reason, due_at)
    values (${job}, ${appId}, 3, 7, 1, 'r', 'infinity')`;
  await sql`update chunks set done_blocks = -1, begun_counts = array[1, null, 3] where group_number = 0`;
  await sql`insert into bulk_operations (client_id, user_name, action, subscribe_tag_ids, unsubscribe_tag_ids, total, "full")
    values (${clientId}, 'u', 'subscribe', ${[tagId]}::integer[], '{}', 3, 2)`;
  await sql`insert into nodes (host, pid, seen_at) values ('gone', 7, now() - interval '1 hour')`;
}

/** All rows as text, by table. */
async function contents(sql: SqlPool): Promise<Readonly<Record<string, readonly string[]>>> {
  const found: Record<string, readonly string[]> = {};
  await sql.begin(async (tx) => {
    await tx`set local timezone = 'UTC'`;
    for (const table of await filledTables(tx)) {
      const rows = await tx.unsafe<{ text: string }[]>(
        `select t::text as text from "${table}" t order by t::text collate "C"`,
      );
      found[table] = rows.map(({ text }) => text);
    }
  });
  return found;
}

/** Each constraint of a table, in words. */
const keysOf = (sql: Sql) => sql`
  select conrelid::regclass::text as "table", conname as name, pg_get_constraintdef(oid) as definition,
    convalidated as "isChecked"
  from pg_constraint where connamespace = 'public'::regnamespace order by 1, 2`;

/** The number that each sequence gives next. */
async function numbersOf(sql: Sql): Promise<Readonly<Record<string, unknown>>> {
  const names = await sql<{ name: string }[]>`
    select sequencename as name from pg_sequences where schemaname = 'public' order by 1`;
  const found: Record<string, unknown> = {};
  for (const { name } of names) {
    const [row] = await sql`
      select last_value + is_called::integer as next from ${sql(name)}`;
    found[name] = row?.['next'];
  }
  return found;
}

/** Opens an embedded store of a directory, and closes it after the work. */
async function onStore<T>(dataDir: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openEmbedded(dataDir, { fsync: false });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function targetOf(t: Test, url: string): Promise<Store> {
  const store = await openPostgres(url);
  t.teardown(() => store.close());
  return store;
}

t.test('all rows arrive, and the source keeps its own', async (t) => {
  await withPostgres(t, async (t, url) => {
    const dataDir = temporaryDirectory(t);
    seedEmbedded(dataDir);
    const { before, numbers } = await onStore(dataDir, async ({ sql }) => {
      await fill(sql);
      return { before: await contents(sql), numbers: await numbersOf(sql) };
    });
    const { sql } = await targetOf(t, url);
    const triggers = await triggersOf(sql);
    const keys = await keysOf(sql);
    t.ok(keys.length > 30, 'many tables have keys');
    // An engine has run on it, and has left its marks.
    await sql`insert into clock_watch (id, seen_at) values (1, now())`;
    const steps: string[] = [];
    const shares: number[] = [];
    const moved = await move(dataDir, url, {
      step: (step) => steps.push(step),
      copied: (rows, total) => shares.push(rows / total),
    });

    t.same(await contents(sql), before);
    const revisions = 2;
    t.equal(moved.rows, Object.values(before).flat().length + revisions);
    t.same(steps, ['look', 'prepare', 'copy', 'compare', 'connect']);
    t.equal(shares.at(-1), 1);
    t.same(
      shares,
      shares.toSorted((a, b) => a - b),
      'it goes forward',
    );
    t.same(await triggersOf(sql), triggers, 'triggers are as they were');
    t.same(await keysOf(sql), keys, 'keys and other constraints are as they were');
    t.same(await numbersOf(sql), numbers, 'numbers go on where those of the source are');
    await numbersGoOn(t, sql);
    await keysAndTriggersWork(t, sql);
    t.same(await onStore(dataDir, ({ sql }) => contents(sql)), before, 'the source');
  });
});

async function numbersGoOn(t: Test, sql: Sql): Promise<void> {
  const [next] = await sql`insert into clients (slug, name) values ('next', 'Next') returning id`;
  const [most] = await sql`select max(id) as id from clients where slug <> 'next'`;
  t.equal(next?.['id'], most?.['id'] + 1, 'of clients');
  const [tag] =
    await sql`insert into tags (client_id, name) select id, 'T' from clients limit 1 returning id`;
  const [known] = await sql`
    select greatest((select max(id) from tag_groups), (select max(id) from apps)) as id`;
  t.ok(tag?.['id'] > known?.['id'], 'of tags, groups and apps');
}

async function keysAndTriggersWork(t: Test, sql: Sql): Promise<void> {
  await t.rejects(sql`insert into apps (client_id, name) values (-1, 'x')`, { code: '23503' });
  const revision = () =>
    sql`select revision from access_revision`.then(([row]) => row?.['revision']);
  const old = await revision();
  await sql`update clients set limits = null`;
  t.not(await revision(), old);
}

t.test('a table whose columns are in another order', async (t) => {
  await withPostgres(t, async (t, url) => {
    const dataDir = temporaryDirectory(t);
    seedEmbedded(dataDir);
    await onStore(dataDir, async ({ sql }) => {
      await makeTenant(sql, 'acme');
      await sql`alter table clients rename column name to former`;
      await sql`alter table clients add column name text`;
      await sql`update clients set name = 'Acme, Inc.'`;
      await sql`alter table clients drop column former`;
    });
    const { sql } = await targetOf(t, url);
    await move(dataDir, url);
    t.match(await sql`select slug, name from clients`, [{ slug: 'acme', name: 'Acme, Inc.' }]);
  });
});

async function payloadsOf(sql: Sql): Promise<unknown> {
  const [row] = await sql`
    select md5(string_agg(payload::text, '' order by id)) as digest from notifications`;
  return row?.['digest'];
}

t.test('rows with large values are moved a few at a time', async (t) => {
  await withPostgres(t, async (t, url) => {
    const dataDir = temporaryDirectory(t);
    seedEmbedded(dataDir);
    const before = await onStore(dataDir, async ({ sql }) => {
      await makeNotification(sql, await makeTenant(sql, 'acme'));
      // Digests are hardly compressed, and too large for the row itself.
      await sql`
        insert into notifications select large.* from notifications n,
          generate_series(1, ${LARGE_ROWS}) as i,
          lateral (select string_agg(md5(i || ' ' || j), '') as text
            from generate_series(1, ${LARGE / 32}) as j) as digests,
          lateral json_populate_record(n, json_build_object(
            'id', gen_random_uuid(), 'payload', json_build_object('data', digests.text))) as large`;
      return payloadsOf(sql);
    });
    const { sql } = await targetOf(t, url);
    const sizes: number[] = [];
    await move(dataDir, url, SILENT, (end) => ({
      ...end,
      async copyOut(query) {
        const rows = await end.copyOut(query);
        sizes.push(rows.length);
        return rows;
      },
    }));
    t.equal(await payloadsOf(sql), before);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    t.ok(total > LARGE * LARGE_ROWS, `${total} octets`);
    t.ok(Math.max(...sizes) < 1.5 * PIECE, `${Math.max(...sizes)} octets at a time`);
  });
});

t.test('what cannot be moved is refused, and leaves the target empty', async (t) => {
  await withPostgres(t, async (t, url) => {
    const dataDir = temporaryDirectory(t);
    seedEmbedded(dataDir);
    await onStore(dataDir, ({ sql }) => makeTenant(sql, 'acme'));
    const { sql } = await targetOf(t, url);
    const refused = async (name: string, line: RegExp, seen?: (end: End) => End) => {
      const numbers = await numbersOf(sql);
      await t.rejects(
        move(dataDir, url, SILENT, seen),
        { name: 'SettingFault', message: line },
        name,
      );
      t.same(await sql`select from apps`, [], name);
      t.same(await numbersOf(sql), numbers, `${name}: its numbers`);
    };

    await sql`insert into nodes (host, pid) values ('here', 42)`;
    await refused('a node beats', /^--to: an engine is at work .+process 42 on here/);
    await sql`delete from nodes`;

    await sql`insert into accounts (email) values ('a@example.com')`;
    await refused(
      'it is in use',
      /^--to: this database is in use already, with 0 clients and 1 account:/,
    );
    await sql`delete from accounts`;

    await sql`insert into migrations (name) values ('9001-later')`;
    await refused('another schema', /^DATA_DIR: its schema is another one .+9001-later/);
    await sql`delete from migrations where name = '9001-later'`;

    await sql`alter table apps add column colour text`;
    await refused('another table', /^DATA_DIR: its table apps is not as this version makes it/);
    await sql`alter table apps drop column colour`;

    await sql`create table notes (text text)`;
    await refused('a table too many', /^--to: its table notes is not at the other end/);
    await sql`drop table notes`;

    await onStore(dataDir, ({ sql }) => sql`create table notes (text text)`);
    await refused('a table of their own', /^DATA_DIR: its table notes is not at the other end/);
    await onStore(dataDir, ({ sql }) => sql`drop table notes`);

    const losing = (end: End): End => ({
      ...end,
      copyOut: (query) =>
        end.copyOut(query.replace('from "tags" where', 'from "tags" where false and')),
    });
    await refused('a row is lost', /^--to: table tags differs .+1 and 0 rows/, losing);

    const changing = (end: End): End => ({
      ...end,
      copyOut: (query) => end.copyOut(query.replace('"name", ', `'other' as "name", `)),
    });
    await refused('a value is changed', /^--to: table clients differs .+1 and 1 rows/, changing);

    t.ok((await move(dataDir, url)).tables > 30, 'it can be done all the same');
    t.match(await sql`select name from apps`, [{ name: 'App' }]);
  });
});
