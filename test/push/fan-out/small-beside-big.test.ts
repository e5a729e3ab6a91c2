import t from 'tap';
import { readStatus } from '../../../src/push/sql/notifications/read-status.ts';
import { finalRows, seed, submit } from '../../support/fan-out-pushes.ts';
import { makeTag, makeTenant } from '../../support/notifications.ts';
import { until } from '../../support/poll.ts';
import { fanOutFor } from '../../support/sending.ts';
import { behave, freshSimulator } from '../../support/simulator.ts';
import { withStores } from '../../support/store.ts';

const simulator = await freshSimulator();

await withStores(t, async (t, store) => {
  await t.test(
    'small sends beside a big one on a slow provider: of the same app, and of another tenant',
    async (t) => {
      await behave(simulator, { latencyMs: 100, maxConcurrentStreams: 10 });
      const fanOut = await fanOutFor(t, store, simulator);
      const big = await makeTenant(store.sql, 'big');
      const small = {
        ...big,
        tagId: await makeTag(store.sql, big.clientId, { sourceId: 'small' }),
      };
      const other = await makeTenant(store.sql, 'other');
      await seed(store, big, { 3: 30_000 });
      for (const tenant of [small, other]) await seed(store, tenant, { 3: 10 });
      const bigId = await submit(fanOut, big);
      const bigRow = async () => (await readStatus(store.sql, big.clientId, bigId))?.[0];
      const before = await until('it is well under way', async () => {
        const delivered = (await bigRow())?.delivered ?? 0;
        return delivered > 1_000 ? delivered : null;
      });
      const ids = await Promise.all([small, other].map((tenant) => submit(fanOut, tenant)));
      const rows = await Promise.all([
        finalRows(store, small, ids[0] ?? ''),
        finalRows(store, other, ids[1] ?? ''),
      ]);
      const addressed = (rows: readonly { total: number }[]) =>
        rows.filter(({ total }) => total > 0);
      t.match(addressed(rows.flat()), [{ delivered: 10 }, { delivered: 10 }]);
      const after = await bigRow();
      t.equal(after?.state, 'RUNNING', 'the big one is far from its end');
      t.ok((after?.delivered ?? 0) - before < 15_000, `${before}, then ${after?.delivered}`);
      t.match(addressed(await finalRows(store, big, bigId)), [{ delivered: 30_000 }]);
      await fanOut.drain();
    },
  );
});
