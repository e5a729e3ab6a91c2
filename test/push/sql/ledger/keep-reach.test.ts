/**
 * Whom a job has reached: against the simulator, which knows what each token was accepted for, and
 * against the ledger alone, where a holder is lost at any line.
 */

import { pino } from 'pino';
import t from 'tap';
import type { Simulator } from '../../../../packages/simulator/src/simulator.ts';
import type { Store } from '../../../../src/database/store.ts';
import { GROUP_DEVICES } from '../../../../src/domain/device.ts';
import type { Counts } from '../../../../src/domain/notification.ts';
import type {
  ChunkProgress,
  RetryProgress,
  RetrySettlement,
} from '../../../../src/domain/progress.ts';
import { DEFAULT_PUSH_OPTIONS } from '../../../../src/domain/push-options.ts';
import { Ledger } from '../../../../src/push/ledger/ledger.ts';
import type { ClaimedChunk } from '../../../../src/push/sql/ledger/claim-chunks.ts';
import type { ClaimedRetries } from '../../../../src/push/sql/ledger/claim-retries.ts';
import { releaseParked } from '../../../../src/push/sql/ledger/parked-parts.ts';
import { isReached } from '../../../../src/push/sql/ledger/read-reach.ts';
import { removeReach } from '../../../../src/push/sql/ledger/remove-reach.ts';
import { readStatus } from '../../../../src/push/sql/notifications/read-status.ts';
import { Reach } from '../../../../src/push/worker/chunk/reach.ts';
import { systemClock } from '../../../../src/std/clock.ts';
import { NO_FEED } from '../../../../src/tag-index/tag-index.ts';
import { chunkReport } from '../../../support/chunk-report.ts';
import { finalRows, pushTo, seed, submit } from '../../../support/fan-out-pushes.ts';
import type { Tenant } from '../../../support/notifications.ts';
import {
  claimChunksOf,
  claimRetriesOf,
  makeRunning,
  makeTenant,
} from '../../../support/notifications.ts';
import { onEachStore } from '../../../support/on-each-store.ts';
import { until } from '../../../support/poll.ts';
import { ordinalsReached, readReach, tokensReached } from '../../../support/reach.ts';
import { fanOutFor } from '../../../support/sending.ts';
import { SILENT_JOURNAL } from '../../../support/silent-journal.ts';
import { behave, freshSimulator } from '../../../support/simulator.ts';

const LEASE_MS = 60_000;
const NOTHING: Counts = { total: 0, delivered: 0, failed: 0, skipped: 0, expired: 0, cancelled: 0 };
const PROVIDERS = { 3: 'apns', 15: 'fcm' } as const;

/** The tokens of the tenant's devices that the simulator has accepted a message for, sorted. */
async function acceptedTokens(
  { controlUrl }: Simulator,
  store: Store,
  { appId }: Tenant,
): Promise<readonly string[]> {
  const devices = await store.sql<{ token: string; platformId: 3 | 15 }[]>`
    select device_id as token, platform_id as "platformId" from devices where app_id = ${appId}`;
  const accepted: string[] = [];
  for (const { token, platformId } of devices) {
    const response = await fetch(`${controlUrl}/received/${PROVIDERS[platformId]}/${token}`);
    const known = (await response.json()) as { readonly accepted?: number };
    if ((known.accepted ?? 0) > 0) accepted.push(token);
  }
  return accepted.sort();
}

const sumOf = <Row>(rows: readonly Row[], pick: (row: Row) => number): number =>
  rows.reduce((sum, row) => sum + pick(row), 0);

const ledgerOf = (store: Store): Ledger =>
  new Ledger({
    journal: SILENT_JOURNAL,
    store,
    feed: NO_FEED,
    leaseMs: LEASE_MS,
    clock: systemClock,
    log: pino({ level: 'silent' }),
    onRecorded: () => undefined,
  });

async function claimOne(store: Store, id: string, leaseMs = LEASE_MS): Promise<ClaimedChunk> {
  const chunk = await until('a chunk to claim', async () => {
    const [found = null] = await claimChunksOf(store.sql, id, leaseMs);
    return found;
  });
  return chunk;
}

/** A report that all devices with these offsets, in the first `blocks` blocks, have it. */
function sent(chunk: ClaimedChunk, blocks: number, offsets: readonly number[]): ChunkProgress {
  const reach = new Reach();
  for (const offset of offsets) reach.add(offset);
  const mask = (1n << BigInt(blocks)) - 1n;
  const reached = reach.of(mask);
  return chunkReport(chunk, {
    blocks: BigInt.asIntN(64, mask & ~BigInt.asUintN(64, BigInt(chunk.doneBlocks))),
    counts: { ...NOTHING, total: offsets.length, delivered: offsets.length },
    ...(reached === null ? {} : { reached }),
  });
}

const settlement = (
  { ordinals, epochs, ...scope }: ClaimedRetries,
  more: Partial<RetrySettlement>,
): RetryProgress => ({
  kind: 'retries',
  notificationId: scope.notificationId,
  appId: scope.appId,
  platformId: scope.platformId,
  settlements: ordinals.map((ordinal, at) => ({
    ordinal,
    epoch: epochs[at] ?? 0,
    ending: null,
    reason: 'Again',
    attempts: 1,
    dueInMs: 0,
    isUncertain: false,
    isReached: false,
    ...more,
  })),
  observations: [],
  fault: null,
  sends: 0,
  sentFromMs: null,
  sentToMs: null,
});

function claimRetry(store: Store, id: string): Promise<ClaimedRetries> {
  return until('a retry to claim', async () => {
    const [found = null] = await claimRetriesOf(store.sql, id, LEASE_MS);
    return found;
  });
}

async function statusOf(store: Store, { clientId }: Tenant, id: string) {
  const [row] = (await readStatus(store.sql, clientId, id)) ?? [];
  if (row === undefined) throw new Error('no status');
  return row;
}

const offsetsReached = async (store: Store, id: string) =>
  (await ordinalsReached(store.sql, id)).map(({ ordinal }) => ordinal).sort((a, b) => a - b);

/** The lease of what is held has ended: its holder is lost. */
const loseHolders = async ({ sql }: Store) => {
  await sql`update chunks set lease_until = now() - interval '1 second' where lease_until is not null`;
  await sql`update retries set lease_until = now() - interval '1 second' where lease_until is not null`;
};

const retryOf = (ordinal: number, isUncertain: boolean) => ({
  ordinal,
  attempts: 1,
  reason: 'Timeout',
  dueInMs: 0,
  isUncertain,
});

const simulator = await freshSimulator();

await onEachStore(t, {
  'lost answers, refusals and retries: whom the simulator has accepted': async (t, store) => {
    await behave(simulator, {
      shares: { gone: 0.1, serverError: 0.1 },
      lostAnswerShare: 0.05,
    });
    const fanOut = await fanOutFor(t, store, simulator, { limits: { requestTimeoutMs: 1_000 } });
    const tenant = await makeTenant(store.sql, 'faults');
    await seed(store, tenant, { 3: 250 });
    const id = await submit(fanOut, tenant);
    const rows = await finalRows(store, tenant, id);
    const accepted = await acceptedTokens(simulator, store, tenant);
    t.ok(accepted.length > 150 && accepted.length < 250, `${accepted.length} accepted`);
    t.strictSame(await tokensReached(store.sql, id), accepted);
    t.equal(
      sumOf(rows, ({ reached }) => reached ?? 0),
      accepted.length,
    );
    t.ok(rows.every(({ isReachWhole }) => isReachWhole));
    await fanOut.drain();
  },

  'at most once: an unknown outcome is in it, as an accepted one': async (t, store) => {
    await behave(simulator, { lostAnswerShare: 0.1, silentShare: 0.1 });
    const fanOut = await fanOutFor(t, store, simulator, { limits: { requestTimeoutMs: 1_000 } });
    const tenant = await makeTenant(store.sql, 'once');
    await seed(store, tenant, { 3: 150 });
    const options = { ...DEFAULT_PUSH_OPTIONS, isAtMostOnce: true };
    const id = await submit(fanOut, tenant, pushTo(tenant, { options }));
    const [row] = await finalRows(store, tenant, id);
    const accepted = new Set(await acceptedTokens(simulator, store, tenant));
    const reached = await tokensReached(store.sql, id);
    t.ok((row?.failed ?? 0) > 10, `${row?.failed} unknown`);
    t.equal(reached.length, (row?.delivered ?? 0) + (row?.failed ?? 0));
    t.same(
      [...accepted].filter((token) => !reached.includes(token)),
      [],
    );
    await fanOut.drain();
  },

  'cancelled in the middle: whom the simulator has accepted': async (t, store) => {
    await behave(simulator, { latencyMs: 20 });
    const fanOut = await fanOutFor(t, store, simulator);
    const tenant = await makeTenant(store.sql, 'cancelled');
    await seed(store, tenant, { 3: 400 });
    const options = { ...DEFAULT_PUSH_OPTIONS, ratePerSecond: 300 };
    const id = await submit(fanOut, tenant, pushTo(tenant, { options }));
    await until('some are sent', async () => {
      const row = await statusOf(store, tenant, id);
      return row.total >= 100 ? true : null;
    });
    await store.sql`update notifications set state = 'CANCELLED' where id = ${id}`;
    const [row] = await finalRows(store, tenant, id);
    await until('its end is recorded', async () => {
      const [ended] =
        await store.sql`select from notifications where id = ${id} and finished_at is not null`;
      return ended ?? null;
    });
    const accepted = await acceptedTokens(simulator, store, tenant);
    t.ok(accepted.length >= 100 && accepted.length < 400, `${accepted.length} of 400`);
    t.strictSame(await tokensReached(store.sql, id), accepted, `${row?.cancelled} cancelled`);
    await fanOut.drain();
  },

  'a small send: no row more': async (t, store) => {
    await behave(simulator, {});
    const fanOut = await fanOutFor(t, store, simulator);
    const tenant = await makeTenant(store.sql, 'small');
    await seed(store, tenant, { 3: 64 });
    const id = await submit(fanOut, tenant);
    const [row] = await finalRows(store, tenant, id);
    t.equal(row?.reached, 64);
    t.same(
      (await readReach(store.sql, id)).map(({ lies, words }) => [lies, words.length]),
      [['scope', 18]],
    );
    t.equal((await tokensReached(store.sql, id)).length, 64);
    await seed(store, tenant, { 3: 1 });
    const larger = await submit(fanOut, tenant);
    await finalRows(store, tenant, larger);
    t.same(
      (await readReach(store.sql, larger)).map(({ lies }) => lies),
      ['group'],
    );
    await fanOut.drain();
  },

  'a chunk gathers it, and leaves it when it is done; a report counts once': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'gathers');
    const id = await makeRunning(store.sql, tenant, 1, { step: GROUP_DEVICES });
    const ledger = ledgerOf(store);
    const chunk = await claimOne(store, id);
    const first = sent(chunk, 1, [0, 3]);
    await ledger.record(first);
    await ledger.record(first);
    t.same(await offsetsReached(store, id), [0, 3]);
    t.match(await statusOf(store, tenant, id), { reached: 2, delivered: 2, isReachWhole: true });
    t.same(
      (await readReach(store.sql, id)).map(({ lies }) => lies),
      ['chunk'],
    );
    const rest = { ...sent({ ...chunk, doneBlocks: '1' }, 64, [130, 8_191]) };
    await ledger.record(rest);
    await ledger.record(rest);
    t.same(await offsetsReached(store, id), [0, 3, 130, 8_191]);
    t.same(
      (await readReach(store.sql, id)).map(({ lies }) => lies),
      ['group'],
    );
    t.match(await statusOf(store, tenant, id), { state: 'FINISHED', reached: 4 });
    await ledger.drain();
  },

  'a retry: in it once, from its first send of unknown end on': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'again');
    const id = await makeRunning(store.sql, tenant, 1, { step: GROUP_DEVICES });
    const ledger = ledgerOf(store);
    const chunk = await claimOne(store, id);
    const reach = new Reach();
    reach.add(1);
    const reached = reach.of(1n);
    await ledger.record(
      chunkReport(chunk, {
        blocks: -1n,
        counts: { ...NOTHING, total: 2 },
        retries: [retryOf(1, true), retryOf(2, false)],
        ...(reached === null ? {} : { reached }),
      }),
    );
    t.same(await offsetsReached(store, id), [1]);
    const batch = await claimRetry(store, id);
    const again = settlement(batch, { isUncertain: true, isReached: true, reason: 'Timeout' });
    await ledger.record(again);
    t.same(await offsetsReached(store, id), [1, 2], 'the second now, the first still once');
    await ledger.record(again);
    const last = await claimRetry(store, id);
    await ledger.record(settlement(last, { ending: 'delivered', reason: null, isReached: true }));
    t.same(await offsetsReached(store, id), [1, 2]);
    t.match(await statusOf(store, tenant, id), { delivered: 2, reached: 2, isReachWhole: true });
    await ledger.drain();
  },

  'one device: reached, not, unknown while it may be sent to, gone': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'one');
    const id = await makeRunning(store.sql, tenant, 1, { step: GROUP_DEVICES });
    const ledger = ledgerOf(store);
    const chunk = await claimOne(store, id);
    const scope = { appId: chunk.appId, platformId: chunk.platformId };
    const first = chunk.groupNumber * GROUP_DEVICES;
    const ask = (offset: number) => isReached(store.sql, id, { ...scope, ordinal: first + offset });
    t.equal(await ask(0), 'unknown', 'its part is under way');
    await ledger.record(sent(chunk, 1, [0]));
    t.same([await ask(0), await ask(200)], ['reached', 'unknown'], 'recorded with the chunk');
    await ledger.record(sent({ ...chunk, doneBlocks: '1' }, 64, [200]));
    t.same([await ask(0), await ask(200), await ask(1)], ['reached', 'reached', 'not']);
    const elsewhere = { ...scope, platformId: scope.platformId + 1, ordinal: first };
    t.equal(await isReached(store.sql, id, elsewhere), 'not', 'on another platform');
    await store.sql`
      update notification_scopes set delivered = delivered + 1 where notification_id = ${id}`;
    t.same([await ask(0), await ask(1)], ['reached', 'unknown'], 'not whole');
    await removeReach(store.sql, Date.now() + 60_000, { jobs: 10, rows: 100 });
    t.same([await ask(0), await ask(1)], ['gone', 'gone']);
    await ledger.drain();
  },

  'a lost holder: the next claim knows of it, and the one after it': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'lost');
    const id = await makeRunning(store.sql, tenant, 1, { step: GROUP_DEVICES });
    const ledger = ledgerOf(store);
    t.equal((await claimOne(store, id)).isDoubted, false);
    await loseHolders(store);
    const next = await claimOne(store, id);
    t.equal(next.isDoubted, true);
    await ledger.record(chunkReport(next, { releaseAfterMs: 0 }));
    const third = await claimOne(store, id);
    t.equal(third.isDoubted, true, 'what was given back in order is still in doubt');
    const reach = new Reach();
    reach.add(7);
    const reached = reach.of(1n);
    await ledger.record(
      chunkReport(third, {
        blocks: -1n,
        counts: { ...NOTHING, total: 1 },
        retries: [retryOf(7, false)],
        isDoubted: true,
        ...(reached === null ? {} : { reached }),
      }),
    );
    const batch = await claimRetry(store, id);
    await ledger.record(settlement(batch, { ending: 'delivered', reason: null, isReached: true }));
    t.same(await offsetsReached(store, id), [7]);
    t.equal((await statusOf(store, tenant, id)).reached, 1);
    await ledger.drain();
  },

  'a worker that died after a report: the next claim knows of it': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'died');
    const id = await makeRunning(store.sql, tenant, 1, { step: GROUP_DEVICES });
    const ledger = ledgerOf(store);
    const chunk = await claimOne(store, id);
    await ledger.record(sent(chunk, 1, [0]));
    const failed = { releaseAfterMs: 0, failure: 'the worker ended' };
    await ledger.record(chunkReport(chunk, failed));
    const next = await claimOne(store, id);
    t.equal(next.isDoubted, false, 'it failed before a worker had it');
    await ledger.record(chunkReport(next, { ...failed, isDoubted: true }));
    t.equal((await claimOne(store, id)).isDoubted, true);
    await ledger.drain();
  },

  'parked: a chunk in doubt is not whole, a retry counts once': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'parked');
    const id = await makeRunning(store.sql, tenant, 1, { step: GROUP_DEVICES });
    const ledger = ledgerOf(store);
    await claimOne(store, id);
    await loseHolders(store);
    const doubted = await claimOne(store, id);
    await ledger.record(sent(doubted, 1, [0]));
    const left = { ...NOTHING, total: 1, failed: 1 };
    await ledger.record(chunkReport(doubted, { counts: left, isParked: true }));
    t.match(await statusOf(store, tenant, id), { reached: 1, isReachWhole: false });
    t.equal(await releaseParked(store.sql, id), 1);
    t.match(await statusOf(store, tenant, id), { reached: 1, isReachWhole: true });
    const chunk = await claimOne(store, id);
    const counts = { ...NOTHING, total: 1 };
    const retries = [retryOf(200, false)];
    const blocks = BigInt.asIntN(64, ~1n);
    await ledger.record(chunkReport(chunk, { blocks, counts, retries }));
    await claimRetry(store, id);
    await loseHolders(store);
    const batch = await claimRetry(store, id);
    const failed = settlement(batch, { ending: 'failed', reason: 'Parked' });
    await ledger.record({ ...failed, isParked: true });
    t.equal((await statusOf(store, tenant, id)).reached, 2);
    t.equal(await releaseParked(store.sql, id), 1);
    const again = await claimRetry(store, id);
    await ledger.record(settlement(again, { ending: 'delivered', reason: null, isReached: true }));
    t.same(await offsetsReached(store, id), [0, 200]);
    t.match(await statusOf(store, tenant, id), { reached: 2, delivered: 2, isReachWhole: true });
    await ledger.drain();
  },

  'a lost retry: it may have arrived, whatever becomes of it': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'lost-retry');
    const id = await makeRunning(store.sql, tenant, 1, { step: GROUP_DEVICES });
    const ledger = ledgerOf(store);
    const chunk = await claimOne(store, id);
    const retries = [retryOf(4, false)];
    await ledger.record(
      chunkReport(chunk, { blocks: -1n, counts: { ...NOTHING, total: 1 }, retries }),
    );
    t.same(await offsetsReached(store, id), []);
    await claimRetry(store, id);
    await loseHolders(store);
    const batch = await claimRetry(store, id);
    await ledger.record(settlement(batch, { ending: 'failed', reason: 'Unregistered' }));
    t.same(await offsetsReached(store, id), [4]);
    t.match(await statusOf(store, tenant, id), { failed: 1, reached: 1 });
    await ledger.drain();
  },

  'recorded by a node of the version before: the answer says that it is not whole': async (
    t,
    store,
  ) => {
    const tenant = await makeTenant(store.sql, 'older');
    const id = await makeRunning(store.sql, tenant, 1, { step: GROUP_DEVICES });
    const ledger = ledgerOf(store);
    const chunk = await claimOne(store, id);
    await ledger.record(sent(chunk, 1, [0]));
    t.equal((await statusOf(store, tenant, id)).isReachWhole, true);
    await store.sql`
      update notification_scopes set total = total + 1, delivered = delivered + 1
      where notification_id = ${id}`;
    t.equal((await statusOf(store, tenant, id)).isReachWhole, false);
    await ledger.drain();
  },
});
