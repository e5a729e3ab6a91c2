/** Devices that are tried again keep their places or give them back: on both stores. */

import { pino } from 'pino';
import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../../../src/database/store.ts';
import type { RetryProgress, RetrySettlement } from '../../../../src/domain/progress.ts';
import { releaseOf } from '../../../../src/push/dispatch/claimed.ts';
import { Ledger } from '../../../../src/push/ledger/ledger.ts';
import { addWords, hasDevice, noDevices } from '../../../../src/push/sql/ledger/reach-words.ts';
import { takePlaces } from '../../../../src/push/sql/ledger/take-places.ts';
import { planDue } from '../../../../src/push/sql/notifications/plan-due.ts';
import { systemClock } from '../../../../src/std/clock.ts';
import { NO_FEED } from '../../../../src/tag-index/tag-index.ts';
import { cappedAt, IOS } from '../../../support/capped-sends.ts';
import { startJobsApi } from '../../../support/jobs-api.ts';
import { claimChunksOf, claimRetriesOf } from '../../../support/notifications.ts';
import { onEachStore } from '../../../support/on-each-store.ts';
import { seedDevices } from '../../../support/seed.ts';
import { SILENT_JOURNAL } from '../../../support/silent-journal.ts';

const LEASE_MS = 60_000;
const OFFSETS = [0, 1, 2, 3, 4, 5];

/** A capped job whose six devices have places and are tried again. */
async function startTried(t: Test, store: Store, slug: string) {
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
  const api = await startJobsApi(t, store, slug);
  const { appId, tagId } = api.tenant;
  await seedDevices(sql, { appId, platformId: IOS, tagIds: [tagId], count: OFFSETS.length });
  await api.call('PUT', `/push-admin-api/v3/${slug}/policies`, { categories: cappedAt(1) });
  const id = await api.push();
  await planDue(sql);
  const [chunk] = await claimChunksOf(sql, id, LEASE_MS);
  if (chunk === undefined || chunk.caps === null) throw new Error('nothing was claimed');
  const claim = { leaseStartedMs: systemClock.monotonicMs(), nodeId: null };
  const wanted = noDevices();
  wanted[0] = 0x3f;
  const group = { notificationId: id, appId, platformId: IOS, groupNumber: 0 };
  const wordsOf = () => OFFSETS.map((offset) => `000${offset}`).join('');
  await takePlaces(sql, { ...group, epoch: chunk.epoch, caps: chunk.caps, wanted, wordsOf });
  const release = releaseOf({ kind: 'chunk', chunk, ...claim }, 0, Date.now());
  if (release.kind !== 'chunk') throw new Error(release.kind);
  const again = { attempts: 1, reason: 'Later', dueInMs: 0, isUncertain: false };
  await ledger.record({
    ...release,
    blocks: -1n,
    counts: { ...release.counts, total: OFFSETS.length },
    retries: OFFSETS.map((ordinal) => ({ ...again, ordinal })),
    releaseAfterMs: null,
    places: { category: 'news', withheld: null, returned: null },
  });
  return {
    ledger,
    /** Claims all that are due; answers a report with these settlements of them. */
    claimed: async () => {
      const [retries] = await claimRetriesOf(sql, id, LEASE_MS);
      if (retries === undefined) throw new Error('no retry to claim');
      const given = releaseOf({ kind: 'retries', retries, ...claim }, 0, Date.now());
      if (given.kind !== 'retries') throw new Error(given.kind);
      return (
        settled: Readonly<Record<number, Partial<RetrySettlement>>>,
        more: Partial<RetryProgress> = {},
      ): RetryProgress => ({
        ...given,
        ...more,
        settlements: given.settlements.flatMap((one) => {
          const how = settled[one.ordinal];
          return how === undefined ? [] : [{ ...one, ...how }];
        }),
      });
    },
    returned: async () => {
      const [row] = await sql<{ returned: Uint8Array | null }[]>`
        select returned from cap_places where notification_id = ${id}`;
      const bits = noDevices();
      addWords(bits, row?.returned ?? new Uint8Array());
      return {
        offsets: OFFSETS.filter((offset) => hasDevice(bits, offset)),
        octets: row?.returned?.length ?? 0,
      };
    },
  };
}

const REFUSED = { ending: 'failed', reason: 'BadDeviceToken' } as const;
const LATER = { ending: null, reason: 'TooManyRequests' } as const;
const UNKNOWN = { ending: null, reason: 'Timeout', isUncertain: true, isReached: true } as const;

await onEachStore(t, {
  async 'who was refused at last gives it back; who may have it does not'(t, store) {
    const { ledger, claimed, returned } = await startTried(t, store, 'tried');
    const first = await claimed();
    await ledger.record(
      first({
        0: LATER,
        1: UNKNOWN,
        2: { ending: 'delivered', isReached: true },
        3: { ending: 'expired' },
        4: LATER,
        5: LATER,
      }),
    );
    t.match(await returned(), { offsets: [3] });
    const second = await claimed();
    await ledger.record(second({ 0: REFUSED, 1: REFUSED }));
    t.match(await returned(), { offsets: [0, 3] });
    await ledger.record(second({ 4: REFUSED, 5: REFUSED }, { isParked: true }));
    t.match(await returned(), { offsets: [0, 3] }, 'an operator may send to them');
  },

  async 'a report counts once, and only under its epoch'(t, store) {
    const { ledger, claimed, returned } = await startTried(t, store, 'once');
    const report = await claimed();
    await ledger.record(report({ 0: { ...REFUSED, epoch: 0 } }));
    t.match(await returned(), { octets: 0 }, 'another claim has it');
    await ledger.record(report({ 0: REFUSED }));
    await ledger.record(report({ 0: REFUSED }));
    t.match(await returned(), { offsets: [0], octets: 2 });
  },
});
