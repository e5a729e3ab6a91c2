/**
 * Several clients on one PGlite: each gets its own answers, transactions are alone, and who
 * vanishes leaves nothing.
 */

import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import t from 'tap';
import { serveDatabase } from '../../../src/database/embedded/bridge.ts';
import { connect } from '../../../src/database/sql.ts';
import { collectedHeapOctets } from '../../support/collected-heap.ts';
import { until } from '../../support/poll.ts';
import { seedEmbedded, temporaryEmbedded } from '../../support/store.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** Each answer has some eight messages. */
const STATEMENTS = 10_000;
const STATEMENTS_AT_ONCE = 50;
/** Kept answers were 2.5 kB a statement; what else is made meanwhile is some hundred kilobytes. */
const HEAP_OCTETS_MORE_MAX = 3 * 1024 * 1024;
const CONNECTIONS_GONE = 5;

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

t.test('of ten thousand statements nothing stays in the heap of the thread', async (t) => {
  const dataDir = temporaryDirectory(t);
  seedEmbedded(dataDir);
  // In this thread, whose heap can be read and collected on every version of Node.
  const database = await PGlite.create({ dataDir: join(dataDir, 'postgres') });
  const socketPath = join(dataDir, 'database.sock');
  const bridge = await serveDatabase(database, socketPath, (reason) => t.fail(reason));
  const sql = connect({ kind: 'embedded', socketPath }, 2);
  const run = async (statements: number): Promise<void> => {
    for (let done = 0; done < statements; done += STATEMENTS_AT_ONCE) {
      await Promise.all(
        Array.from(
          { length: STATEMENTS_AT_ONCE },
          (_, i) => sql`
          select n, ${'x'.repeat(50)}::text as text from generate_series(1, ${i % 10}::integer) n`,
        ),
      );
    }
  };
  await run(STATEMENTS / 10);
  const before = collectedHeapOctets();
  await run(STATEMENTS);
  t.ok(
    collectedHeapOctets() - before < HEAP_OCTETS_MORE_MAX,
    `${collectedHeapOctets() - before} octets more than ${before}`,
  );
  await sql.end();
  await bridge.close();
  await database.close();
});

t.test('a connection that ends takes its prepared statements along', async (t) => {
  const { address } = await temporaryEmbedded(t);
  const watching = connect(address, 1);
  t.teardown(() => watching.end());
  const prepared = async (): Promise<number> => {
    const [row] = await watching<{ count: number }[]>`
      select count(*)::integer as count from pg_prepared_statements`;
    return row?.count ?? Number.NaN;
  };
  // Its own statement is one of them from the second time on.
  await prepared();
  const before = await prepared();
  for (let times = 0; times < CONNECTIONS_GONE; times += 1) {
    const leaving = connect(address, 1);
    t.same(await leaving`select 1 as one`, [{ one: 1 }]);
    t.ok((await prepared()) > before, 'there while its connection is');
    await leaving.end();
  }
  await until('its statements are gone', async () => ((await prepared()) === before ? true : null));
});
