/**
 * The database itself goes back in time, and a Redis that knows more is no witness: the index is
 * rebuilt.
 */

import type { Test } from 'tap';
import t from 'tap';
import { connect } from '../../src/database/sql.ts';
import { readLineage } from '../../src/tag-index/groups/lineage.ts';
import { until } from '../support/poll.ts';
import { startRedis, withRedis } from '../support/redis-server.ts';
import { withPostgres } from '../support/store.ts';
import { Field } from './redis-field.ts';

t.setTimeout(400_000);

const CHANGES = 60;
const TABLES = ['devices', 'device_groups', 'device_group_tags'];
/** No version that was counted up from 1 comes near. */
const COUNTED_MAX = 1e9;

async function goesBack(t: Test, url: string): Promise<void> {
  const redis = await startRedis(t);
  const field = await Field.open(t, url, { kind: 'single', url: redis.url });

  const begin = await field.start();
  await field.change([begin], CHANGES);
  await field.watch.isRepaired(t, 'at first');
  await begin.end('SIGTERM');
  await field.sql.end();
  const backup = await copyDatabase(t, url);
  await field.turnTo(url);

  await t.test('it is found to be another one while engines run', async (t) => {
    const engine = await field.start();
    await field.change([engine], CHANGES);
    const before = await readLineage(field.sql);
    await field.sql`update index_lineage set identity = 'another'`;
    await until('it is noticed', async () =>
      (await readLineage(field.sql)).identity === before.identity ? true : null,
    );
    await versionsAreNew(t, field);
    await field.isWhole(t, engine, 'promoted');
    await engine.end('SIGTERM');
  });

  await t.test('it goes back under the same name', async (t) => {
    const { name } = await readLineage(field.sql);
    await field.sql`create schema saved`;
    for (const table of TABLES)
      await field.sql.unsafe(`create table saved.${table} as table ${table}`);
    const before = await field.start();
    await field.change([before], CHANGES);
    await field.watch.isRepaired(t, 'before it goes back');
    await before.end('SIGTERM');
    await field.sql.begin(async (tx) => {
      for (const table of TABLES) {
        await tx.unsafe(`delete from ${table}`);
        await tx.unsafe(`insert into ${table} select * from saved.${table}`);
      }
    });
    await field.turnTo(url);
    const engine = await field.start();
    t.not((await readLineage(field.sql)).name, name, 'it has left the index that knows more');
    await field.change([engine], CHANGES);
    await field.isWhole(t, engine, 'gone back');
    await engine.end('SIGTERM');
  });

  await t.test('a backup is restored beside it', async (t) => {
    const { name } = await readLineage(field.sql);
    await field.turnTo(backup);
    const engine = await field.start({ DATABASE_URL: backup });
    t.not((await readLineage(field.sql)).name, name, 'it has an index of its own');
    await versionsAreNew(t, field);
    await field.change([engine], CHANGES);
    await field.isWhole(t, engine, 'restored');
  });
}

async function versionsAreNew(t: Test, { sql }: Field): Promise<void> {
  const rows = await sql<{ version: number }[]>`select min(version) as version from device_groups`;
  t.ok((rows[0]?.version ?? 0) > COUNTED_MAX, 'no group has a version that it had before');
}

/**
 * Copies the database in its present state, the way a backup of it would be restored; it must have
 * no connection. Returns its URL.
 */
async function copyDatabase(t: Test, original: string): Promise<string> {
  const url = new URL(original);
  const name = url.pathname.slice(1);
  const copy = `${name}_copy`;
  url.pathname = '/postgres';
  const admin = connect({ kind: 'postgres', url: url.href }, 1);
  t.teardown(async () => {
    await admin.unsafe(`drop database if exists ${copy} with (force)`);
    await admin.end();
  });
  await admin.unsafe(`create database ${copy} template ${name}`);
  url.pathname = `/${copy}`;
  return url.href;
}

await withRedis(t, (t) => withPostgres(t, goesBack));
