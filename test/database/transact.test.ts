import t from 'tap';
import type { Sql } from '../../src/database/sql.ts';
import { STATEMENT_MS_MAX, transact } from '../../src/database/transact.ts';
import { withStores } from '../support/store.ts';

const limitOf = async (tx: Sql): Promise<number> => {
  const [row] = await tx<{ limit: number }[]>`
    select setting::int as limit from pg_settings where name = 'statement_timeout'`;
  return row?.limit ?? 0;
};

await withStores(t, async (t, { sql }) => {
  await t.test('every statement has its time, the first one too, and none after it', async (t) => {
    const limits = await transact(sql, async (tx) => [await limitOf(tx), await limitOf(tx)]);
    t.same(limits, [STATEMENT_MS_MAX, STATEMENT_MS_MAX]);
    t.equal(await limitOf(sql), 0);
  });
});
