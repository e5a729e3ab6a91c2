/**
 * Small sends by the hundred: what one of them costs the database does not depend on how many there
 * are, also under plans that were made while there were none.
 */

import t from 'tap';
import type { ChunkProgress } from '../../../src/domain/progress.ts';
import { PLANS_ARE_KEPT } from '../../../src/store/dedicated-connection.ts';
import type { ClaimedChunk } from '../../../src/store/ledger/claim-chunks.ts';
import { claimChunks } from '../../../src/store/ledger/claim-chunks.ts';
import { recordChunks } from '../../../src/store/ledger/record-chunks.ts';
import { planDue } from '../../../src/store/notifications/plan-due.ts';
import type { SqlPool } from '../../../src/store/sql.ts';
import { makeNotification, makeTag, makeTenant } from '../../support/notifications.ts';
import { seedDevices } from '../../support/seed.ts';
import { withPostgresStore } from '../../support/store.ts';

const SENDS = 200;
/** Of each send: its rows, their keys in several indexes, and some more of each statement. */
const ROWS_OF_EACH_MAX = 60;
const TABLES = ['notifications', 'notification_scopes', 'chunks', 'tags', 'device_group_tags'];

/** Rows and index entries of these tables that the transaction went through so far. */
async function rowsReadIn(tx: Pick<SqlPool, 'unsafe'>): Promise<number> {
  const [row] = await tx.unsafe<{ rows: number }[]>(`
    select sum(pg_stat_get_xact_tuples_returned(oid))::float8 as rows from pg_class
    where relname in ('${TABLES.join("','")}')
      or oid in (select indexrelid from pg_index where indrelid::regclass::text in ('${TABLES.join("','")}'))`);
  return row?.rows ?? Number.NaN;
}

/** A report that the only device of a chunk has it. */
const delivered = (chunk: ClaimedChunk): ChunkProgress => ({
  kind: 'chunk',
  notificationId: chunk.notificationId,
  appId: chunk.appId,
  platformId: chunk.platformId,
  groupNumber: chunk.groupNumber,
  epoch: chunk.epoch,
  blocks: -1n,
  counts: { total: 1, delivered: 1, failed: 0, skipped: 0, expired: 0, cancelled: 0 },
  reasons: [],
  retries: [],
  started: null,
  observations: [],
  fault: null,
  sends: 1,
  sentFromMs: 1,
  sentToMs: 1,
  releaseAfterMs: null,
});

await withPostgresStore(t, async (t, store) => {
  const { sql } = store;
  await t.test('planned, claimed and recorded: each is looked up by itself', async (t) => {
    const tenant = await makeTenant(sql, 'clubs');
    const { appId, clientId } = tenant;
    const tagIds: number[] = [];
    while (tagIds.length < SENDS) tagIds.push(await makeTag(sql, clientId, {}));
    await seedDevices(sql, { appId, platformId: 3, tagIds, count: 1 });
    await sql.unsafe('vacuum analyze');
    const connection = store.openDedicatedConnection(PLANS_ARE_KEPT);
    const countedIn = <Result>(work: (tx: SqlPool) => Promise<Result>) =>
      connection.transact(
        async (tx) => {
          const result = await work(tx as SqlPool);
          return { result, rows: await rowsReadIn(tx as SqlPool) };
        },
        async (_, found) => found,
      );
    const plan = () => countedIn((tx) => planDue(tx));
    const claim = (ids: readonly string[]) =>
      countedIn((tx) =>
        claimChunks(
          tx,
          ids.map((notificationId) => ({ notificationId, appId, platformId: 3, count: 1 })),
          60_000,
          null,
        ),
      );
    const record = (chunks: readonly ClaimedChunk[]) =>
      countedIn((tx) => recordChunks(tx, chunks.map(delivered), 60_000));
    await plan();
    await claim([]);
    await record([]);
    const ids: string[] = [];
    for (const tagId of tagIds) ids.push(await makeNotification(sql, { ...tenant, tagId }));
    const planned = await plan();
    t.equal(planned.result.length, SENDS);
    t.ok(planned.rows < SENDS * ROWS_OF_EACH_MAX, `planned: ${planned.rows} rows`);
    const claimed = await claim(ids);
    t.equal(claimed.result.length, SENDS);
    t.ok(claimed.rows < SENDS * ROWS_OF_EACH_MAX, `claimed: ${claimed.rows} rows`);
    const recorded = await record(claimed.result);
    t.ok(recorded.result.every(({ isCounted, isClosed }) => isCounted && isClosed));
    t.ok(recorded.rows < SENDS * ROWS_OF_EACH_MAX, `recorded: ${recorded.rows} rows`);
  });
});
