/** The counts of a paced send in blocks that are not done, on every store. */

import { pino } from 'pino';
import type { Test } from 'tap';
import t from 'tap';
import type { Counts } from '../../../../src/domain/notification.ts';
import { Ledger } from '../../../../src/push/ledger/ledger.ts';
import { releaseAllLeases } from '../../../../src/push/sql/ledger/release-all-leases.ts';
import { listNotifications } from '../../../../src/push/sql/notifications/list-notifications.ts';
import { readStatus } from '../../../../src/push/sql/notifications/read-status.ts';
import { systemClock } from '../../../../src/std/clock.ts';
import { NO_FEED } from '../../../../src/tag-index/tag-index.ts';
import { chunkReport } from '../../../support/chunk-report.ts';
import { claimChunksOf, makeRunning, makeTenant } from '../../../support/notifications.ts';
import { SILENT_JOURNAL } from '../../../support/silent-journal.ts';
import { withStores } from '../../../support/store.ts';

const LEASE_MS = 60_000;
const NOTHING: Counts = { total: 0, delivered: 0, failed: 0, skipped: 0, expired: 0, cancelled: 0 };
const delivered = (count: number): Counts => ({ ...NOTHING, total: count, delivered: count });
const EVERYTHING = {
  state: null,
  appId: null,
  tagId: null,
  fromMs: null,
  toMs: null,
  publisher: null,
  hasFaults: false,
  q: null,
};

await withStores(t, async (t, store) => {
  const { sql } = store;
  const ledger = new Ledger({
    journal: SILENT_JOURNAL,
    store,
    feed: NO_FEED,
    leaseMs: LEASE_MS,
    clock: systemClock,
    log: pino({ level: 'silent' }),
    onRecorded: () => undefined,
  });
  const tenant = await makeTenant(sql, 'paced');
  const id = await makeRunning(sql, tenant, 200, { ratePerSecond: 2 });
  const claimed = async () => {
    const [chunk] = await claimChunksOf(sql, id, LEASE_MS);
    if (chunk === undefined) throw new Error('nothing to claim');
    return chunk;
  };
  const shows = async (t: Test, count: number) => {
    const [row] = (await readStatus(sql, tenant.clientId, id)) ?? [];
    t.match(row, { total: count, delivered: count, failed: 0 });
    const page = { before: null, limit: 10 };
    t.match(await listNotifications(sql, tenant.clientId, EVERYTHING, page), [
      { id, total: count, delivered: count },
    ]);
  };

  await t.test('it is shown, and replaced by the next report', async (t) => {
    const chunk = await claimed();
    await shows(t, 0);
    await ledger.record(chunkReport(chunk, { begun: delivered(5) }));
    await shows(t, 5);
    await ledger.record(chunkReport(chunk, { begun: delivered(7) }));
    await shows(t, 7);
    const done = { blocks: 1n, counts: delivered(128) };
    await ledger.record(chunkReport(chunk, { ...done, begun: delivered(3) }));
    await shows(t, 131);
    const [scope] = await sql`
      select delivered::integer from notification_scopes where notification_id = ${id}`;
    t.equal(scope?.['delivered'], 128, 'only what is done is counted');
  });

  await t.test('another claim has nothing of it', async (t) => {
    await releaseAllLeases(sql);
    const chunk = await claimed();
    await shows(t, 128);
    await ledger.record(chunkReport(chunk, { begun: delivered(4) }));
    await shows(t, 132);
    // The report at its end, like that of a node of the version before.
    const rest = { blocks: -2n, counts: delivered(72) };
    await ledger.record(chunkReport(chunk, rest));
    await shows(t, 200);
    const [row] = (await readStatus(sql, tenant.clientId, id)) ?? [];
    t.equal(row?.state, 'FINISHED');
  });
});
