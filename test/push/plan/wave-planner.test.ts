/** Planned waves: faults, parked parts and reports of earlier ones; zones that come between. */

import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { recordProgress } from '../../../src/push/sql/ledger/record-progress.ts';
import { chunkReport } from '../../support/chunk-report.ts';
import { claimChunksOf } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { until } from '../../support/poll.ts';
import { fanOutFor } from '../../support/sending.ts';
import {
  ended,
  isBalanced,
  jobOf,
  LOCAL,
  pass,
  simulator,
  startScene,
} from '../../support/wave-scene.ts';
import { bring, planWaves } from '../../support/waves.ts';

/** A connection for reports to the ledger. */
function dedicatedTo(t: Test, store: Store) {
  const connection = store.openDedicatedConnection();
  t.teardown(() => connection.close());
  return connection;
}

await onEachStore(t, {
  async 'a zone that is told when its hour is over'(t, store) {
    const zones = ['America/Lima', 'America/Lima', 'America/Lima'];
    const scene = await startScene(t, store, 'over', zones);
    const { api, sql, received, fanOut, tokens, move } = scene;
    const id = await api.push({ sendAtLocal: LOCAL });
    const looked = await until('there is a look before the first wave', async () => {
      await sql`update notifications set next_wave_at = now() where id = ${id}`;
      await planWaves(sql);
      const job = await jobOf(api, id);
      return job.state === 'SCHEDULED' && job.waves.length > 0 ? job : null;
    });
    t.equal(looked.waves.length, 2);
    const [next] = await sql<{ inMs: number }[]>`
      select extract(epoch from next_wave_at - now())::float8 * 1000 as "inMs"
      from notifications where id = ${id}`;
    t.ok((next?.inMs ?? 0) < 900_001, 'and the next within a quarter of an hour');
    // The hour came an hour ago in Accra, and two hours ago in Lagos.
    const ago = async (zone: string, token: string | undefined, lookedMinutes: number) => {
      const local = new Date(Date.now() - 3_600_000).toISOString().slice(0, 16);
      await sql`
        update notifications set send_at_local = ${local}, accepted_at = now() - interval '1 day',
          next_wave_at = now() - ${lookedMinutes} * interval '1 minute'
        where id = ${id}`;
      await move(token, zone);
      await planWaves(sql);
    };
    await ago('Africa/Lagos', tokens[0], 0);
    t.match(await jobOf(api, id), { state: 'SCHEDULED', waves: { length: 2 } }, 'long over');
    await ago('Africa/Accra', tokens[1], 50);
    const begun = await until('it is sent at once', async () => {
      const job = await jobOf(api, id);
      return job.successCount === 1 ? job : null;
    });
    t.match(begun, { state: 'RUNNING', totalCount: 1 });
    t.strictSame(await received(), [0, 1, 0], 'its hour came after the look before');
    await fanOut.drain();
  },

  async 'a report of a wave counts in no later one'(t, store) {
    const scene = await startScene(t, store, 'fenced', ['Asia/Tokyo', 'America/Lima']);
    const { api, sql, fanOut } = scene;
    await fanOut.drain();
    const id = await api.push({ sendAtLocal: LOCAL });
    const claimed = async (n: number) => {
      await bring(sql, id, (await jobOf(api, id)).waves[n].at);
      await planWaves(sql);
      const [chunk] = await claimChunksOf(sql, id, 60_000);
      if (chunk === undefined) throw new Error(`wave ${n} was not claimed`);
      return chunk;
    };
    const ledger = dedicatedTo(t, store);
    const counts = { total: 1, delivered: 1, failed: 0, skipped: 0, expired: 0, cancelled: 0 };
    const first = chunkReport(await claimed(0), { blocks: -1n, counts });
    await recordProgress(ledger, [first], 60_000);
    const chunk = await claimed(1);
    const { lost } = await recordProgress(ledger, [first], 60_000);
    t.ok(lost.has(first), 'it is of another claim');
    t.match(await jobOf(api, id), { totalCount: 1, waves: [{}, { state: 'RUNNING' }] });
    await recordProgress(ledger, [chunkReport(chunk, { blocks: -1n, counts })], 60_000);
    t.match(await jobOf(api, id), { totalCount: 2 });
  },

  async 'a fault, or a parked part, of one wave is none of the next'(t, store) {
    const scene = await startScene(t, store, 'mended', ['Asia/Tokyo', null, 'America/Lima']);
    const { api, sql, received, fanOut } = scene;
    await fanOut.drain();
    const id = await api.push({ sendAtLocal: LOCAL });
    await bring(sql, id, (await jobOf(api, id)).waves[0].at);
    await planWaves(sql);
    const [chunk] = await claimChunksOf(sql, id, 60_000);
    if (chunk === undefined) throw new Error('nothing was claimed');
    const ledger = dedicatedTo(t, store);
    const counts = { total: 1, delivered: 0, failed: 1, skipped: 0, expired: 0, cancelled: 0 };
    const more = { counts, isParked: true, isDoubted: true, fault: 'credential' } as const;
    await recordProgress(ledger, [chunkReport(chunk, more)], 60_000);
    const second = await fanOutFor(t, store, simulator);
    await pass(api, sql, id, 1);
    await pass(api, sql, id, 2);
    const job = await ended(api, id);
    t.match(job, { state: 'FINISHED', totalCount: 3, failedCount: 1, successCount: 2 });
    t.ok(isBalanced(job));
    t.strictSame(await received(), [0, 1, 1]);
    t.match(await api.call('POST', `/${id}/retry`, {}), { status: 410 }, 'it may have been sent');
    await second.drain();
  },
});
