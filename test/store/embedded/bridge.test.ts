/** Several clients on one PGlite: each gets its own answers, transactions are alone, and who vanishes leaves nothing. */

import t from 'tap';
import { connect } from '../../../src/store/sql.ts';
import { temporaryEmbedded } from '../../support/store.ts';

t.test('many connections, one session', async (t) => {
  const { sql, address } = await temporaryEmbedded(t);
  await sql`create table counters (id integer primary key, n integer not null)`;
  await sql`insert into counters values (1, 0)`;

  await t.test('read-modify-write transactions do not lose updates', async (t) => {
    const increment = () =>
      sql.begin(async (tx) => {
        const [row] = await tx<{ n: number }[]>`select n from counters where id = 1`;
        await tx`update counters set n = ${(row?.n ?? 0) + 1} where id = 1`;
      });
    await Promise.all(Array.from({ length: 50 }, increment));
    t.same(await sql`select n from counters`, [{ n: 50 }]);
  });

  await t.test(
    'statements and failing transactions side by side: nobody gets the answer of another',
    async (t) => {
      const read = async (i: number): Promise<boolean> => {
        const [row] = await sql<{ i: number }[]>`select ${i}::integer as i`;
        return row?.i === i;
      };
      const fail = (): Promise<boolean> =>
        sql
          .begin((tx) => tx`insert into counters values (1, 1)`)
          .then(
            () => false,
            (error: unknown) => error instanceof Error && 'code' in error && error.code === '23505',
          );
      const results = await Promise.all(
        Array.from({ length: 300 }, (_, i) => (i % 3 === 0 ? fail() : read(i))),
      );
      t.same(
        results,
        results.map(() => true),
      );
    },
  );

  await t.test(
    'a client that goes away in a transaction is rolled back, and the others go on',
    async (t) => {
      const leaving = connect(address, 1);
      const connection = await leaving.reserve();
      await connection`begin`.simple();
      await connection`update counters set n = -1`;
      await leaving.end({ timeout: 0 });
      t.same(await sql`select n from counters`, [{ n: 50 }]);
    },
  );

  await t.test('a megabyte in one statement arrives whole', async (t) => {
    const text = 'x'.repeat(1_000_000);
    const [row] = await sql<
      { length: number; text: string }[]
    >`select length(${text}::text) as length, ${text}::text as text`;
    t.equal(row?.length, text.length);
    t.equal(row?.text, text);
  });
});
