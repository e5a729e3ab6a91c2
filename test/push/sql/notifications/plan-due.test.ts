/**
 * Small sends and retries by the hundred: what one of them costs the database does not depend on
 * how many there are, also under plans that were made while there were none.
 */

import t from 'tap';
import type { DedicatedConnection } from '../../../../src/database/dedicated-connection.ts';
import { PLANS_ARE_KEPT } from '../../../../src/database/dedicated-connection.ts';
import type { SqlPool } from '../../../../src/database/sql.ts';
import type {
  ChunkProgress,
  DeviceObservation,
  NewRetry,
  RetryProgress,
} from '../../../../src/domain/progress.ts';
import { AT_ONCE_SETTINGS } from '../../../../src/push/dispatch/at-once.ts';
import type { ClaimedChunk } from '../../../../src/push/sql/ledger/claim-chunks.ts';
import { claimChunks } from '../../../../src/push/sql/ledger/claim-chunks.ts';
import type { ClaimedRetries } from '../../../../src/push/sql/ledger/claim-retries.ts';
import { claimRetries } from '../../../../src/push/sql/ledger/claim-retries.ts';
import { recordChunks } from '../../../../src/push/sql/ledger/record-chunks.ts';
import { recordRetries } from '../../../../src/push/sql/ledger/record-retries.ts';
import type { ScopeFault } from '../../../../src/push/sql/ledger/set-faults.ts';
import { setFaults } from '../../../../src/push/sql/ledger/set-faults.ts';
import type { ScopeWait } from '../../../../src/push/sql/ledger/set-waits.ts';
import { setWaits } from '../../../../src/push/sql/ledger/set-waits.ts';
import { failedSendsIn, noteFailures } from '../../../../src/push/sql/note-failures.ts';
import { insertStarted } from '../../../../src/push/sql/notifications/insert-started.ts';
import { PLANNED_AT_ONCE_MAX, planDue } from '../../../../src/push/sql/notifications/plan-due.ts';
import { aNotification } from '../../../support/a-notification.ts';
import { chunkReport } from '../../../support/chunk-report.ts';
import { makeNotification, makeTag, makeTenant } from '../../../support/notifications.ts';
import { seedDevices } from '../../../support/seed.ts';
import { withPostgresStore } from '../../../support/store.ts';

const SENDS = PLANNED_AT_ONCE_MAX;
/** Rows of each send: its own, their keys in several indexes, and some more of each statement. */
const ROWS_OF_EACH_MAX = 60;
/** Several times what one look may read. */
const WAITING = 30_000;
const TABLES = [
  'notifications',
  'notification_scopes',
  'chunks',
  'retries',
  'condemned_devices',
  'tags',
  'device_group_tags',
  'devices',
  'device_events',
];

/** Rows and index entries of these tables that the transaction went through so far. */
async function rowsReadIn(tx: Pick<SqlPool, 'unsafe'>): Promise<number> {
  const [row] = await tx.unsafe<{ rows: number }[]>(`
    select sum(pg_stat_get_xact_tuples_returned(oid))::float8 as rows from pg_class
    where relname in ('${TABLES.join("','")}')
      or oid in (select indexrelid from pg_index where indrelid::regclass::text in ('${TABLES.join("','")}'))`);
  return row?.rows ?? Number.NaN;
}

/** The results of the statements of `work`, and how many rows they went through. */
const countedOn = <Result>(
  connection: DedicatedConnection,
  work: (tx: SqlPool) => Promise<Result>,
): Promise<{ readonly result: Result; readonly rows: number }> =>
  connection.transact(
    async (tx) => {
      const result = await work(tx as SqlPool);
      return { result, rows: await rowsReadIn(tx as SqlPool) };
    },
    async (_, found) => found,
  );

/** A report that the only device of a chunk has it. */
const delivered = (chunk: ClaimedChunk): ChunkProgress =>
  chunkReport(chunk, {
    blocks: -1n,
    counts: { total: 1, delivered: 1, failed: 0, skipped: 0, expired: 0, cancelled: 0 },
    sends: 1,
    sentFromMs: 1,
    sentToMs: 1,
  });

const retryOf = (ordinal: number): NewRetry => ({
  ordinal,
  attempts: 1,
  reason: 'ServiceUnavailable',
  dueInMs: 0,
  isUncertain: false,
});

const goneOf = (ordinal: number): DeviceObservation => ({
  kind: 'gone',
  ordinal,
  registeredBeforeMs: 1,
});

/** A report that all retries of a batch have failed, and that their devices are gone. */
const failed = ({ ordinals, epochs, ...scope }: ClaimedRetries): RetryProgress => ({
  kind: 'retries',
  notificationId: scope.notificationId,
  appId: scope.appId,
  platformId: scope.platformId,
  settlements: ordinals.map((ordinal, position) => ({
    ordinal,
    epoch: epochs[position] ?? 0,
    ending: 'failed',
    reason: 'Unregistered',
    attempts: 2,
    dueInMs: 0,
    isUncertain: false,
    isReached: false,
  })),
  observations: ordinals.map(goneOf),
  failures: ordinals.map((ordinal) => ({ ordinal, reason: 'Unregistered' })),
  fault: null,
  sends: ordinals.length,
  sentFromMs: 1,
  sentToMs: 1,
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
    const plan = () => countedOn(connection, (tx) => planDue(tx));
    const claim = (ids: readonly string[]) =>
      countedOn(connection, (tx) =>
        claimChunks(
          tx,
          ids.map((notificationId) => ({ notificationId, appId, platformId: 3, count: 1 })),
          60_000,
          null,
        ),
      );
    const record = (chunks: readonly ClaimedChunk[]) =>
      countedOn(connection, (tx) => recordChunks(tx, chunks.map(delivered), 60_000));
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

  await t.test('accepted and started in one statement: each is looked up by itself', async (t) => {
    await sql`truncate notifications, devices, tags cascade`;
    const tenant = await makeTenant(sql, 'at-once');
    const { appId, clientId } = tenant;
    const tagIds: number[] = [];
    while (tagIds.length < SENDS) tagIds.push(await makeTag(sql, clientId, {}));
    await seedDevices(sql, { appId, platformId: 3, tagIds, count: 1 });
    await sql.unsafe('vacuum analyze');
    const connection = store.openDedicatedConnection(AT_ONCE_SETTINGS);
    const accept = (tags: readonly number[]) => {
      const scopes = [3, 15].map((platformId) => ({ appId, platformId, isSimulated: false }));
      const sends = tags.map((tagId) => {
        const audience = { anyTagIds: [tagId], allTagIds: [tagId], noneTagIds: [] };
        return aNotification({ clientId, audience, scopes });
      });
      return countedOn(connection, (tx) =>
        insertStarted(tx, sends, { nodeId: null, leaseMs: 60_000 }),
      );
    };
    await accept([]);
    const { result, rows } = await accept(tagIds);
    t.equal(result.filter(({ chunks }) => chunks.length === 1).length, SENDS);
    t.ok(rows < SENDS * ROWS_OF_EACH_MAX, `accepted and started: ${rows} rows`);
  });

  await t.test('retries: claimed and recorded, each is looked up by itself', async (t) => {
    const connection = store.openDedicatedConnection(PLANS_ARE_KEPT);
    await sql`truncate notifications, devices, tags cascade`;
    await sql.unsafe('vacuum analyze');
    const parts = (ids: readonly string[]) =>
      ids.map((notificationId) => ({ notificationId, appId, platformId: 3 }));
    const claim = (ids: readonly string[]) =>
      countedOn(connection, (tx) => claimRetries(tx, parts(ids), 60_000, null));
    const postpone = (chunks: readonly ChunkProgress[]) =>
      countedOn(connection, (tx) => recordChunks(tx, chunks, 60_000));
    const settle = (
      reports: readonly RetryProgress[],
      faults: readonly ScopeFault[],
      waits: readonly ScopeWait[],
    ) =>
      countedOn(connection, async (tx) => {
        const [ended] = await Promise.all([
          recordRetries(tx, reports),
          setFaults(tx, faults),
          setWaits(tx, waits),
          noteFailures(tx, failedSendsIn(reports)),
        ]);
        return ended;
      });
    const tenant = await makeTenant(sql, 'retries');
    const { appId, tagId } = tenant;
    await claim([]);
    await postpone([]);
    await settle([], [], []);

    await seedDevices(sql, { appId, platformId: 3, tagIds: [tagId], count: SENDS });
    const ids: string[] = [];
    while (ids.length < SENDS) ids.push(await makeNotification(sql, tenant));
    await planDue(sql);
    const wanted = parts(ids).map((part) => ({ ...part, count: 1 }));
    const chunks = await claimChunks(sql, wanted, 60_000, null);
    // The first has as many retries as there are sends, each other one has one.
    const postponed = await postpone(
      chunks.map((chunk, position) => {
        const ordinals = position === 0 ? chunks.map((_, ordinal) => ordinal) : [position];
        const report = delivered(chunk);
        return { ...report, retries: ordinals.map(retryOf), observations: ordinals.map(goneOf) };
      }),
    );
    t.ok(postponed.result.every(({ isCounted }) => isCounted));
    t.ok(postponed.rows < 2 * SENDS * ROWS_OF_EACH_MAX, `postponed: ${postponed.rows} rows`);
    const claimed = await claim(ids);
    t.equal(claimed.result.length, SENDS);
    t.equal(
      claimed.result.reduce((sum, { ordinals }) => sum + ordinals.length, 0),
      2 * SENDS - 1,
    );
    t.ok(claimed.rows < 2 * SENDS * ROWS_OF_EACH_MAX, `claimed: ${claimed.rows} rows`);
    const reports = claimed.result.map(failed);
    const faults = parts(ids).map((part) => ({ ...part, fault: 'BadCredential' }));
    const waitingFor = { reason: 'Quota', forMs: 1_000 };
    const waits = parts(ids).map((part) => ({ ...part, waitingFor }));
    const settled = await settle(reports, faults, waits);
    t.equal(
      settled.result.reduce((sum, { ended }) => sum + ended, 0),
      2 * SENDS - 1,
    );
    t.ok(settled.rows < 2 * SENDS * ROWS_OF_EACH_MAX, `settled: ${settled.rows} rows`);
    const [noted] = await sql`
      select count(*)::integer as scopes, sum(noted_failures)::integer as failures from notification_scopes
      where fault = 'BadCredential' and waiting_for = 'Quota' and failed > 0`;
    t.same(noted, { scopes: SENDS, failures: 2 * SENDS - 1 });
  });

  await t.test('of many that wait, only those whose turn it is are read', async (t) => {
    const tenant = await makeTenant(sql, 'waiting');
    const tagId = await makeTag(sql, tenant.clientId, {});
    await sql.unsafe('vacuum analyze');
    const connection = store.openDedicatedConnection(PLANS_ARE_KEPT);
    const plan = () => countedOn(connection, (tx) => planDue(tx));
    await plan();
    await sql`
      with written as (
        insert into notifications (
          id, client_id, user_name, state, any_tag_ids, all_tag_ids, none_tag_ids, payload, send_at
        )
        select gen_random_uuid(), ${tenant.clientId}, 'test', 'SCHEDULED', array[${tagId}::integer], '{}', '{}', '{}', now()
        from generate_series(1, ${WAITING}::integer)
        returning id
      )
      insert into notification_scopes (notification_id, app_id, platform_id, simulated)
      select id, ${tenant.appId}, 3, false from written`;
    // Now a plan could expect to find a first few anywhere among what is unfinished.
    await sql.unsafe('analyze notifications');
    const planned = await plan();
    t.equal(planned.result.length, PLANNED_AT_ONCE_MAX);
    const rowsMax = PLANNED_AT_ONCE_MAX * ROWS_OF_EACH_MAX;
    t.ok(planned.rows < rowsMax, `planned: ${planned.rows} rows`);
  });
});
