import t from 'tap';
import type { Sql } from '../../src/store/sql.ts';
import { withStores } from '../support/store.ts';

const transactionOf = async (tx: Sql): Promise<number> => {
  const [row] = await tx<{ id: number }[]>`select pg_current_xact_id()::text::int as id`;
  return row?.id ?? 0;
};

await withStores(t, async (t, store) => {
  const line = store.openLine();
  await store.sql`create table numbers (number int)`;

  // Twice: a statement that the connection knows already takes another way through the driver.
  for (const time of ['first', 'second']) {
    await t.test(`everything is one transaction, the ${time} time`, async (t) => {
      const [a, b, c] = await line.transact(
        (tx) => Promise.all([transactionOf(tx), transactionOf(tx)]),
        async (tx, found) => [...found, await transactionOf(tx)],
      );
      t.equal(a, b, 'the first half is one');
      t.equal(c, b, 'and the second half is in it');
      const after = await line.transact(transactionOf, (_, found) => Promise.resolve(found));
      t.not(after, c, 'it is over, and the next one is another');
    });
  }

  await t.test(
    'lazy queries too are within it, in the order in which they were made',
    async (t) => {
      const [row] = await line.transact(
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
      line.transact((tx) => Promise.all([insert(tx).execute(), fail(tx)]), insert),
      { code: '22012' },
    );
    await t.rejects(line.transact(insert, fail), { code: '22012' });
    t.same(await store.sql`select number from numbers`, []);
    await line.transact(insert, insert);
    t.same(await store.sql`select count(*)::int as count from numbers`, [{ count: 2 }]);
  });
});
