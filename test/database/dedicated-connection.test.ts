import t from 'tap';
import type { Sql } from '../../src/database/sql.ts';
import { withStores } from '../support/store.ts';

const transactionOf = async (tx: Sql): Promise<number> => {
  const [row] = await tx<{ id: number }[]>`select pg_current_xact_id()::text::int as id`;
  return row?.id ?? 0;
};

await withStores(t, async (t, store) => {
  const connection = store.openDedicatedConnection();
  await store.sql`create table numbers (number int)`;

  // Twice: a statement that the connection knows already takes another way through the driver.
  for (const time of ['first', 'second']) {
    await t.test(`everything is one transaction, the ${time} time`, async (t) => {
      const [a, b, c] = await connection.transact(
        (tx) => Promise.all([transactionOf(tx), transactionOf(tx)]),
        async (tx, found) => [...found, await transactionOf(tx)],
      );
      t.equal(a, b, 'the first half is one');
      t.equal(c, b, 'and the second half is in it');
      const after = await connection.transact(transactionOf, (_, found) => Promise.resolve(found));
      t.not(after, c, 'it is over, and the next one is another');
    });
  }

  await t.test(
    'lazy queries too are within it, in the order in which they were made',
    async (t) => {
      const [row] = await connection.transact(
        (tx) => Promise.all([tx`insert into numbers values (1)`.execute(), transactionOf(tx)]),
        async (tx, [, id]) =>
          await tx<{ same: boolean }[]>`
        select xmin::text::int = ${id} as same from numbers`,
      );
      t.same(row, { same: true });
    },
  );

  await t.test('a statement that fails in either half leaves nothing', async (t) => {
    await store.sql`truncate numbers`;
    const insert = (tx: Sql) => tx`insert into numbers values (2)`;
    const fail = (tx: Sql) => tx`select 1 / (select count(*) from numbers where number = 3)`;
    await t.rejects(
      connection.transact((tx) => Promise.all([insert(tx).execute(), fail(tx)]), insert),
      { code: '22012' },
    );
    await t.rejects(connection.transact(insert, fail), { code: '22012' });
    t.same(await store.sql`select number from numbers`, []);
    await connection.transact(insert, insert);
    t.same(await store.sql`select count(*)::int as count from numbers`, [{ count: 2 }]);
  });

  await t.test('all of it in one round trip is one transaction too', async (t) => {
    for (const time of ['first', 'second']) {
      const [a, b] = await connection.transactAtOnce((tx) =>
        Promise.all([transactionOf(tx), transactionOf(tx)]),
      );
      t.equal(a, b, time);
      t.not(await connection.transactAtOnce(transactionOf), b, 'it is over');
    }
  });

  await t.test('in one round trip a statement that fails leaves nothing', async (t) => {
    await store.sql`truncate numbers`;
    const insert = (tx: Sql) => tx`insert into numbers values (4)`;
    const fail = (tx: Sql) => tx`select 1 / (select count(*) from numbers where number = 3)`;
    const all = [insert, fail, insert] as const;
    await t.rejects(
      connection.transactAtOnce((tx) => Promise.all(all.map((statement) => statement(tx)))),
      { code: '22012' },
    );
    t.same(await store.sql`select number from numbers`, []);
    await connection.transactAtOnce((tx) => Promise.all([insert(tx), insert(tx)]));
    t.same(await store.sql`select count(*)::int as count from numbers`, [{ count: 2 }]);
  });

  await t.test('the settings of a connection are those of its transactions', async (t) => {
    const other = store.openDedicatedConnection({ enable_seqscan: 'off', jit: 'off' });
    const setting = async (tx: Sql): Promise<unknown> =>
      await tx`select current_setting('enable_seqscan') as scan, current_setting('jit') as jit`;
    t.same(await other.transactAtOnce(setting), [{ scan: 'off', jit: 'off' }]);
    t.match(await connection.transactAtOnce(setting), [{ scan: 'on' }]);
  });
});
