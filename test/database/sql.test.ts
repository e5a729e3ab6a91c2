/**
 * The driver as we use it: what comes back, and what happens to a connection that the server ends.
 */

import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { connect } from '../../src/database/sql.ts';
import { withPostgres, withStores } from '../support/store.ts';

t.test('counts and epoch milliseconds are numbers', async (t) => {
  await withStores(t, async (t, { sql }) => {
    const ms = Date.UTC(2026, 0, 1);
    t.same(await sql`select count(*) as count, ${ms}::bigint as ms from clients`, [
      { count: 0, ms },
    ]);
  });
});

t.test('a transaction that loses its connection rejects, and the process lives', async (t) => {
  await withPostgres(t, async (t, url) => {
    const sql = connect({ kind: 'postgres', url }, 2);
    t.teardown(() => sql.end({ timeout: 1 }));
    let tellLate: (error: unknown) => void = () => undefined;
    const late = new Promise((resolve) => {
      tellLate = resolve;
    });
    const transaction = sql.begin(async (tx) => {
      const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
      await sql`select pg_terminate_backend(${row?.pid ?? 0})`;
      await t.rejects(tx`select 1`);
      // Unpatched (src/patches) the driver writes this to a socket that is null, where no code can
      // catch it.
      for (let turn = 0; turn < 3; turn += 1) await setImmediate();
      tx`select 2`.then(tellLate, tellLate);
    });
    await t.rejects(transaction);
    t.match(await late, { code: 'CONNECTION_CLOSED' });
    t.same(await sql`select 1 as one`, [{ one: 1 }], 'the pool goes on');
  });
});

t.test('however long the server was away, it is tried again within a second', async (t) => {
  const sql = connect({ kind: 'postgres', url: 'postgres://127.0.0.1:1/none' }, 1);
  const { backoff } = sql.options;
  if (typeof backoff !== 'function') throw new Error('the driver is given a pause of ours');
  for (const attempt of [1, 10, 1_000]) t.ok(backoff(attempt) <= 1);
  await t.rejects(sql`select 1`, { code: 'ECONNREFUSED' });
  await sql.end();
});
