import t from 'tap';
import { joinNodes, leaveNodes } from '../../../../src/database/nodes/beats.ts';
import type { SqlPool } from '../../../../src/database/sql.ts';
import { listClaimable } from '../../../../src/push/sql/ledger/list-claimable.ts';
import {
  claimChunksOf,
  claimRetriesOf,
  makeRunning,
  makeTenant,
} from '../../../support/notifications.ts';
import { withPostgresStore } from '../../../support/store.ts';

const LEASE_MS = 600_000;

const lookAt = async (sql: SqlPool, id: string) =>
  (await listClaimable(sql)).find(({ notificationId }) => notificationId === id) ?? null;

/** A retry that is due, beside a chunk that must not be claimed. */
async function makeRetry(sql: SqlPool, id: string): Promise<void> {
  await sql`
    insert into retries (notification_id, app_id, platform_id, ordinal, attempts, reason, due_at)
    select notification_id, app_id, platform_id, 1, 1, 'Later', now()
    from notification_scopes where notification_id = ${id}`;
  await sql`update notifications set open_retries = 1 where id = ${id}`;
  await sql`update chunks set available_at = now() + interval '1 hour' where notification_id = ${id}`;
}

await withPostgresStore(t, async (t, { sql }) => {
  const tenant = await makeTenant(sql, 'heirs');
  const join = (): Promise<number> => joinNodes(sql, 'host', 1);
  const heir = await join();

  await t.test(
    'a chunk of a node that lives waits for its lease, a dead one’s does not',
    async (t) => {
      const id = await makeRunning(sql, tenant, 10, { isAtMostOnce: true });
      const node = await join();
      t.equal((await claimChunksOf(sql, id, LEASE_MS, 1, node)).length, 1);
      await sql`update chunks set started_blocks = 3 where notification_id = ${id}`;
      t.equal((await claimChunksOf(sql, id, LEASE_MS, 1, heir)).length, 0);
      t.equal(await lookAt(sql, id), null);
      await leaveNodes(sql, node);
      t.match(await lookAt(sql, id), { hasChunks: true, hasRetries: false });
      t.match(await claimChunksOf(sql, id, LEASE_MS, 1, heir), [{ epoch: 2, startedBlocks: '3' }]);
      t.equal((await claimChunksOf(sql, id, LEASE_MS, 1, heir)).length, 0, 'and it is the heir’s');
    },
  );

  await t.test('retries likewise, and they are known to be lost in the middle', async (t) => {
    const id = await makeRunning(sql, tenant, 10);
    await makeRetry(sql, id);
    const node = await join();
    t.match(await claimRetriesOf(sql, id, LEASE_MS, node), [{ wereLost: [false] }]);
    t.equal((await claimRetriesOf(sql, id, LEASE_MS, heir)).length, 0);
    t.equal(await lookAt(sql, id), null);
    await leaveNodes(sql, node);
    t.match(await lookAt(sql, id), { hasChunks: false, hasRetries: true });
    t.match(await claimRetriesOf(sql, id, LEASE_MS, heir), [{ epochs: [2], wereLost: [true] }]);
  });

  await t.test(
    'what a node has claimed that says nothing of itself goes by its lease',
    async (t) => {
      const id = await makeRunning(sql, tenant, 10);
      await claimChunksOf(sql, id, LEASE_MS);
      await leaveNodes(sql, await join());
      t.equal((await claimChunksOf(sql, id, LEASE_MS, 1, heir)).length, 0);
    },
  );

  await t.test('a node of the version before that claims after a dead one keeps it', async (t) => {
    const id = await makeRunning(sql, tenant, 10);
    await makeRetry(sql, id);
    await sql`update chunks set available_at = now() where notification_id = ${id}`;
    const dead = await join();
    await claimChunksOf(sql, id, LEASE_MS, 1, dead);
    await claimRetriesOf(sql, id, LEASE_MS, dead);
    await leaveNodes(sql, dead);
    // The version before claims like this: it knows neither of the columns.
    for (const table of ['chunks', 'retries']) {
      await sql`
        update ${sql(table)} set epoch = epoch + 1, lease_until = now() + interval '10 minutes'
        where notification_id = ${id}`;
    }
    t.equal((await claimChunksOf(sql, id, LEASE_MS, 1, heir)).length, 0);
    t.equal((await claimRetriesOf(sql, id, LEASE_MS, heir)).length, 0);
    t.equal(await lookAt(sql, id), null);
  });
});
