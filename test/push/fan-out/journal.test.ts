/** The lines of a push job: accepted, planned, over, with its ids and counts. */

import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { transact } from '../../../src/database/transact.ts';
import type { FanOut } from '../../../src/push/fan-out.ts';
import { changeState } from '../../../src/push/sql/ledger/change-state.ts';
import { JobJournal } from '../../../src/telemetry/job-journal.ts';
import { createLogger } from '../../../src/telemetry/log.ts';
import { finalRows, pushTo, seed, submit } from '../../support/fan-out-pushes.ts';
import { makeTenant } from '../../support/notifications.ts';
import { until } from '../../support/poll.ts';
import { fanOutFor } from '../../support/sending.ts';
import { freshSimulator } from '../../support/simulator.ts';
import { withStores } from '../../support/store.ts';

const simulator = await freshSimulator();

function startJournal() {
  const lines: Record<string, unknown>[] = [];
  const to = { write: (line: string) => lines.push(JSON.parse(line)) };
  const journal = new JobJournal(createLogger('info', 'test', to));
  /** Resolves with a job's lines once it is over. */
  const linesOf = (id: string): Promise<readonly Record<string, unknown>[]> =>
    until(`${id} is over in the log`, () => {
      const own = lines.filter(({ notificationId }) => notificationId === id);
      return own.some(({ msg }) => msg === 'a push job has ended') ? own : null;
    });
  return { journal, linesOf };
}

await withStores(t, async (t, store) => {
  await t.test('stopped by a fault: failed, and why', (t) => failed(t, store));
  const { journal, linesOf } = startJournal();
  const fanOut = await fanOutFor(t, store, simulator, { journal });
  const scene = { store, fanOut, journal, linesOf };
  await t.test('sent: from the request to the counts', (t) => sent(t, scene));
  await t.test('nobody in the audience: over when it is planned', (t) => unaddressed(t, scene));
  await t.test('cancelled before it was planned: over with that', (t) => cancelled(t, scene));
});

interface Scene extends ReturnType<typeof startJournal> {
  readonly store: Store;
  readonly fanOut: FanOut;
}

async function sent(t: Test, { store, fanOut, linesOf }: Scene): Promise<void> {
  const tenant = await makeTenant(store.sql, 'journal-sent');
  const { clientId, appId } = tenant;
  await seed(store, tenant, { 3: 5, 15: 2 });
  const id = await submit(fanOut, tenant);
  await finalRows(store, tenant, id);
  const ids = { notificationId: id, clientId };
  // Two chunks at once, one for each platform: each line once, whatever ends the job.
  const told = await linesOf(id);
  t.match(told, [
    { ...ids, msg: 'a push job was accepted', requestId: 'r', appIds: [appId], state: 'QUEUED' },
    { ...ids, msg: 'a push job was planned', appIds: [appId], chunks: 2 },
    {
      ...ids,
      msg: 'a push job has ended',
      appIds: [appId],
      state: 'FINISHED',
      total: 7,
      delivered: 7,
      failed: 0,
      skipped: 0,
      expired: 0,
      cancelled: 0,
    },
  ]);
  t.equal(told.length, 3);
  for (const { durationMs = 0, waitedMs = 0 } of told) {
    t.ok(Number(durationMs) >= 0 && Number(waitedMs) >= 0);
  }
}

async function failed(t: Test, store: Store): Promise<void> {
  const { journal, linesOf } = startJournal();
  const fanOut = await fanOutFor(t, store, simulator, {
    journal,
    credentials: () => Promise.resolve(null),
  });
  const tenant = await makeTenant(store.sql, 'journal-failed');
  await seed(store, tenant, { 3: 2 });
  const told = await linesOf(await submit(fanOut, tenant));
  t.match(told.at(-1), { state: 'FAILED', fault: 'MissingCredential', total: 2, failed: 2 });
  await fanOut.drain();
}

async function unaddressed(t: Test, { store, fanOut, linesOf }: Scene): Promise<void> {
  const tenant = await makeTenant(store.sql, 'journal-unaddressed');
  const told = await linesOf(await submit(fanOut, tenant));
  t.match(told.slice(1), [
    { msg: 'a push job was planned', chunks: 0 },
    { msg: 'a push job has ended', state: 'FINISHED', total: 0 },
  ]);
}

async function cancelled(t: Test, { store, fanOut, journal, linesOf }: Scene): Promise<void> {
  const tenant = await makeTenant(store.sql, 'journal-cancelled');
  const later = pushTo(tenant, { sendAtMs: Date.now() + 3_600_000 });
  const id = await submit(fanOut, tenant, later);
  const done = await transact(store.sql, (tx) =>
    changeState(tx, tenant.clientId, id, null, 'cancel'),
  );
  journal.ended(done?.ended ?? []);
  const [accepted, ended] = await linesOf(id);
  t.match(accepted, { state: 'SCHEDULED', sendAt: /^\d{4}-/ });
  // It was to begin in an hour.
  t.match(ended, { state: 'CANCELLED', total: 0, durationMs: 0 });
  const again = await transact(store.sql, (tx) =>
    changeState(tx, tenant.clientId, id, null, 'cancel'),
  );
  t.strictSame(again?.ended, [], 'it ends once');
}
