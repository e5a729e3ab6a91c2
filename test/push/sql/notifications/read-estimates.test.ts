/** About how many devices a notification is for, from the chunks that were looked at. */

import t from 'tap';
import { GROUP_DEVICES } from '../../../../src/domain/device.ts';
import type { Counts } from '../../../../src/domain/notification.ts';
import type { ChunkProgress } from '../../../../src/domain/progress.ts';
import type { ClaimedChunk } from '../../../../src/push/sql/ledger/claim-chunks.ts';
import { recordProgress } from '../../../../src/push/sql/ledger/record-progress.ts';
import { readEstimates } from '../../../../src/push/sql/notifications/read-estimates.ts';
import { readStatus } from '../../../../src/push/sql/notifications/read-status.ts';
import { chunkReport } from '../../../support/chunk-report.ts';
import {
  claimChunksOf,
  makeNotification,
  makeRunning,
  makeTenant,
} from '../../../support/notifications.ts';
import { onEachStore } from '../../../support/on-each-store.ts';

const LEASE_MS = 60_000;
const GROUPS = 4;

const report = (
  chunk: ClaimedChunk,
  {
    delivered,
    ...more
  }: Pick<ChunkProgress, 'blocks' | 'openDevices'> & { readonly delivered: number },
): ChunkProgress => chunkReport(chunk, { ...more, counts: countsOf(delivered) });

const countsOf = (delivered: number): Counts => ({
  total: delivered,
  delivered,
  failed: 0,
  skipped: 0,
  expired: 0,
  cancelled: 0,
});

await onEachStore(t, {
  async 'chunks that nobody has looked at count for the average of the others'(t, store) {
    const { sql } = store;
    const connection = store.openDedicatedConnection();
    const tenant = await makeTenant(sql, 'estimated');
    // One device in each group; the reports name more.
    const id = await makeRunning(sql, tenant, GROUPS, { step: GROUP_DEVICES });
    const total = async () => {
      const estimates = await readEstimates(sql, [id]);
      const [row] = (await readStatus(sql, tenant.clientId, id)) ?? [];
      t.strictSame(
        estimates.map(({ appId, platformId }) => ({ appId, platformId })),
        [{ appId: row?.appId, platformId: row?.platformId }],
        'one for each scope',
      );
      return estimates[0]?.total;
    };
    const record = (progress: ChunkProgress) => recordProgress(connection, [progress], LEASE_MS);
    t.equal(await total(), null, 'nobody has looked');

    const [first, second, third, fourth] = await claimChunksOf(sql, id, LEASE_MS, GROUPS);
    if (!first || !second || !third || !fourth) throw new Error('four chunks were planned');
    t.equal(await total(), null, 'a claim is no look');
    await record(report(first, { blocks: 1n, delivered: 100, openDevices: 500 }));
    t.equal(await total(), 2_400, 'four times 600');
    await record(report(first, { blocks: 2n, delivered: 100, openDevices: 400 }));
    t.equal(await total(), 2_400, 'done or open makes no difference');
    await record(report(second, { blocks: -1n, delivered: 200, openDevices: 0 }));
    t.equal(await total(), 1_600, 'one that is gone has been looked at too');
    await record(report(third, { blocks: 0n, delivered: 0, openDevices: null }));
    t.equal(await total(), 1_600, 'a sign of life of a node that did not look');
    await record(report(third, { blocks: 1n, delivered: 1, openDevices: 0 }));
    await record(report(fourth, { blocks: 1n, delivered: 1, openDevices: 98 }));
    t.equal(await total(), 900, 'exact, since all were looked at');

    for (const chunk of [first, third, fourth]) {
      const blocks = BigInt.asIntN(64, chunk === first ? ~3n : ~1n);
      await record(
        report(chunk, { blocks, delivered: chunk === first ? 400 : 49, openDevices: 0 }),
      );
    }
    t.strictSame(await readEstimates(sql, [id]), [], 'it has ended: its total is known');
    await connection.close();
  },

  async 'one that is not planned has none; a scope without devices has none of them'(t, store) {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'unplanned');
    const waiting = await makeNotification(sql, tenant);
    t.strictSame(await readEstimates(sql, [waiting]), []);
    await sql`delete from notifications where id = ${waiting}::uuid`;

    const id = await makeRunning(sql, tenant, 1);
    await sql`
      insert into notification_scopes (notification_id, app_id, platform_id, simulated)
      values (${id}::uuid, ${tenant.appId}, 15, false)`;
    t.strictSame(
      (await readEstimates(sql, [id])).map(({ platformId, total }) => [platformId, total]).sort(),
      [
        [15, 0],
        [3, null],
      ],
    );
  },
});
