/** Places under caps, from the push to the simulator's books: on both stores. */

import t from 'tap';
import { GROUP_DEVICES } from '../../../../src/domain/device.ts';
import { noDevices } from '../../../../src/push/sql/ledger/reach-words.ts';
import { deleteMovedOrdinals } from '../../../../src/push/sql/ledger/remove-reach.ts';
import { takePlaces } from '../../../../src/push/sql/ledger/take-places.ts';
import { planDue } from '../../../../src/push/sql/notifications/plan-due.ts';
import { deleteOldPlaces } from '../../../../src/push/sql/old-places.ts';
import { cappedAt, IOS, startCapped } from '../../../support/capped-sends.ts';
import { startJobsApi } from '../../../support/jobs-api.ts';
import { claimChunksOf } from '../../../support/notifications.ts';
import { onEachStore } from '../../../support/on-each-store.ts';
import { seedDevices } from '../../../support/seed.ts';

/** The words of the first eight devices. */
const wordsOf = (bits: Uint8Array): string | null => {
  const offsets = [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => ((bits[0] ?? 0) >> bit) & 1);
  return offsets.length === 0 ? null : offsets.map((offset) => `000${offset}`).join('');
};

await onEachStore(t, {
  async 'jobs at once: each device gets as many as the cap allows'(t, store) {
    const { api, send, fanOut, timesOf } = await startCapped(t, store, 'at-once', {
      categories: cappedAt(3),
      devices: 300,
    });
    const jobs = await Promise.all(Array.from({ length: 7 }, () => send()));
    t.strictSame(await timesOf(), { 3: 300 });
    const sum = (name: string) => jobs.reduce((total, job) => total + (job[name] ?? 0), 0);
    t.equal(sum('totalCount'), 2_100);
    t.equal(sum('successCount'), 900);
    t.equal(sum('withheldCount'), 1_200);
    const last = await send();
    t.match(last, {
      state: 'FINISHED',
      totalCount: 300,
      successCount: 0,
      withheldCount: 300,
      withheldReasons: { frequencyCap: 300 },
      reach: { devices: 0 },
      platforms: [{ platformId: IOS, withheldCount: 300 }],
    });
    const { body: list } = await api.call('GET', '');
    t.match(list[0], { id: last.id, withheldCount: 300 });
    const status = await api.call('GET', `/push-api/status/${last.id}`);
    t.match(status.body, [{ withheldCount: 300, withheldReasons: { frequencyCap: 300 } }]);
    t.match(await send({ category: 'breaking' }), { successCount: 300, withheldCount: undefined });
    t.match(await send({ caps: 'ignore' }), { successCount: 300 });
    t.strictSame(await timesOf(), { 5: 300 });
    await fanOut.drain();
  },

  async 'a claim after a loss finds the places; one that was lost takes none'(t, store) {
    const { sql } = store;
    const api = await startJobsApi(t, store, 'lost');
    const { appId, tagId } = api.tenant;
    await seedDevices(sql, { appId, platformId: IOS, tagIds: [tagId], count: 8 });
    await api.call('PUT', '/push-admin-api/v3/lost/policies', { categories: cappedAt(1) });
    /** A job with a claim of its chunk; `take`: takes places for the devices of an octet. */
    const claimed = async () => {
      const notificationId = await api.push();
      await planDue(sql);
      const [claim] = await claimChunksOf(sql, notificationId, 60_000);
      if (claim === undefined || claim.caps === null) throw new Error('nothing was claimed');
      const { caps } = claim;
      const take = async (octet: number, epoch = claim.epoch) => {
        const wanted = noDevices();
        wanted[0] = octet;
        const group = { notificationId, appId, platformId: IOS, groupNumber: 0 };
        return (await takePlaces(sql, { ...group, epoch, caps, wanted, wordsOf }))?.[0] ?? null;
      };
      return { notificationId, epoch: claim.epoch, take };
    };
    const first = await claimed();
    t.equal(await first.take(0x0f, first.epoch - 1), null, 'another claim has it');
    t.equal(await first.take(0x0f), 0x0f);
    t.equal(await first.take(0x0f), 0x0f, 'the same ones again');
    const second = await claimed();
    t.equal(await second.take(0x3c), 0x30, 'only who has no place');
    t.equal(await first.take(0xff), 0xcf, 'and the first one all others');
  },

  async 'who was moved stays held, and housekeeping keeps what that needs'(t, store) {
    const { appId, tagId, send, fanOut } = await startCapped(t, store, 'moved', {
      categories: cappedAt(1),
      devices: 12,
    });
    const { sql } = store;
    await send();
    // A second group, with a device of its own; then others move there.
    await sql`
      update app_platforms set next_ordinal = ${GROUP_DEVICES + 1_000}
      where app_id = ${appId} and platform_id = ${IOS}`;
    await seedDevices(sql, { appId, platformId: IOS, tagIds: [tagId], count: 1 });
    await sql`
      update devices set ordinal = ordinal + ${GROUP_DEVICES} where app_id = ${appId} and ordinal < 5`;
    t.match(await send(), { totalCount: 13, withheldCount: 12 });
    const later = Date.now() + 60_000;
    t.equal(await deleteMovedOrdinals(sql, later, 100), 0, 'places need them');
    await sql`update moved_ordinals set moved_at = now() - interval '2 hours'`;
    t.equal(await deleteMovedOrdinals(sql, later, 1), 1, 'those of later jobs do not');
    t.equal(await deleteOldPlaces(sql, Date.now() - 60_000, 100), 0, 'they are young');
    t.equal(await deleteOldPlaces(sql, later, 1), 1);
    t.ok((await deleteOldPlaces(sql, later, 100)) > 0);
    t.equal(await deleteMovedOrdinals(sql, later, 100), 4);
    await fanOut.drain();
  },
});
