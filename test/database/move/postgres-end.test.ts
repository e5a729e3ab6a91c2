/** A PostgreSQL as an end: what goes wrong in a COPY is said, and never waited for. */

import t from 'tap';
import { READING, WRITING } from '../../../src/database/move/end.ts';
import { onPostgres } from '../../../src/database/move/postgres-end.ts';
import { connect } from '../../../src/database/sql.ts';
import { withPostgres } from '../../support/store.ts';

/** The head of a binary COPY, and its end without a row. */
const HEAD = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
const END = Buffer.from([0xff, 0xff]);

await withPostgres(t, async (t, url) => {
  const address = { kind: 'postgres', url } as const;
  const sql = connect(address, 1);
  t.teardown(() => sql.end());
  await sql`create table things (id integer primary key, name text not null)`;
  const place = { address, setting: '--to' };
  const adding = (...rows: readonly Buffer[]) =>
    onPostgres({ ...place, mode: WRITING }, (end) =>
      end.copyIn('things (id, name)', Buffer.concat([HEAD, ...rows, END])),
    );
  const idsOf = async () => (await sql`select id from things order by id`).map(({ id }) => id);
  const row = (id: number, name: string | null) => {
    const head = Buffer.from([0, 2, 0, 0, 0, 4, 0, 0, 0, id]);
    if (name === null) return Buffer.concat([head, Buffer.alloc(4, 0xff)]);
    return Buffer.concat([head, Buffer.from([0, 0, 0, name.length]), Buffer.from(name)]);
  };

  await t.test('rows go in and out', async (t) => {
    await adding(row(1, 'one'), row(2, 'two'));
    t.same(await idsOf(), [1, 2]);
    const out = await onPostgres({ ...place, mode: READING }, (end) =>
      end.copyOut('select id, name from things where id = 2'),
    );
    t.same(Buffer.from(out), Buffer.concat([HEAD, row(2, 'two'), END]));
  });

  await t.test('much goes out, and the statements after it are answered', async (t) => {
    const sizes = await onPostgres({ ...place, mode: READING }, async (end) => {
      const found: number[] = [];
      for (const rows of [1, 3_000, 100_000, 20_000]) {
        const out = await end.copyOut(
          `select n, repeat('x', 40) from generate_series(1, ${rows}) n`,
        );
        found.push((out.length - HEAD.length - END.length) / rows);
      }
      return found;
    });
    t.same(sizes, [54, 54, 54, 54]);
  });

  await t.test('an error that comes after the last octet', async (t) => {
    await t.rejects(adding(row(3, 'three'), row(1, 'again')), { code: '23505' });
    await t.rejects(adding(row(3, null)), { code: '23502' });
    t.same(await idsOf(), [1, 2], 'nothing of it is left');
  });

  await t.test('an error in the middle of much', async (t) => {
    const many = Buffer.concat(Array.from({ length: 200_000 }, () => row(4, 'four')));
    await t.rejects(adding(row(1, 'again'), many), { code: '23505' });
    t.same(await idsOf(), [1, 2]);
  });

  await t.test('the connection is lost', async (t) => {
    const lost = onPostgres({ ...place, mode: WRITING }, async (end) => {
      const [backend] = await end.read<{ readonly pid: number }>('select pg_backend_pid() as pid');
      await sql`select pg_terminate_backend(${backend?.pid ?? 0})`;
      await end.copyIn('things (id, name)', Buffer.concat([HEAD, row(5, 'five'), END]));
    });
    await t.rejects(lost, /terminating connection|CONNECTION_/);
    t.same(await idsOf(), [1, 2]);
  });

  await t.test('a lock that is not given is said in a sentence', async (t) => {
    await sql.begin(async (holder) => {
      await holder`lock table things in access exclusive mode`;
      const waiting = onPostgres({ ...place, mode: WRITING }, async (end) => {
        await end.run(`set local lock_timeout = 20`);
        await end.run('lock table things in access exclusive mode');
      });
      const message = /^--to: something else holds a lock on its tables/;
      await t.rejects(waiting, { name: 'SettingFault', message });
    });
  });

  await t.test('what only reads cannot change anything', async (t) => {
    const writing = onPostgres({ ...place, mode: READING }, (end) => end.run('delete from things'));
    await t.rejects(writing, { code: '25006' });
    t.same(await idsOf(), [1, 2]);
  });
});
