/**
 * The bucket by its own clock: time passes by moving what is stored back, besides the little that
 * really passes.
 */

import type { Test } from 'tap';
import t from 'tap';
import type { Sql } from '../../../src/database/sql.ts';
import { bucketOf } from '../../../src/push/dispatch/quota-leaser.ts';
import { drawPermits, pauseQuota, returnPermits } from '../../../src/push/sql/draw-permits.ts';
import { onEachStore } from '../../support/on-each-store.ts';

const PER_MINUTE = 600_000;

function sceneOf(sql: Sql, perMinute = PER_MINUTE) {
  const bucket = bucketOf('fcm:news', perMinute);
  let passedMs = 0;
  const startMs = performance.now();
  return {
    draw: (wanted: number) => drawPermits(sql, bucket, wanted),
    giveBack: (permits: number) => returnPermits(sql, bucket, permits),
    pause: (forMs: number) => pauseQuota(sql, bucket, forMs),
    /** Time of the bucket's clock, since the start. */
    nowMs: () => passedMs + performance.now() - startMs,
    async pass(ms: number): Promise<void> {
      passedMs += ms;
      await sql`
        update provider_quotas set refilled_at = refilled_at - by, paused_until = paused_until - by
        from make_interval(secs => ${ms}::float8 / 1000) as by`;
    },
  };
}

interface Grant {
  readonly atMs: number;
  readonly permits: number;
}

/** The most that was granted within any so many milliseconds. */
function mostWithin(ms: number, grants: readonly Grant[]): number {
  let most = 0;
  let sum = 0;
  let first = 0;
  for (const { atMs, permits } of grants) {
    sum += permits;
    for (let old = grants[first]; old !== undefined && old.atMs < atMs - ms; old = grants[first]) {
      sum -= old.permits;
      first += 1;
    }
    most = Math.max(most, sum);
  }
  return most;
}

const sumOf = (grants: readonly Grant[], fromMs: number, toMs: number): number =>
  grants
    .filter(({ atMs }) => atMs >= fromMs && atMs < toMs)
    .reduce((sum, { permits }) => sum + permits, 0);

t.test('on each store', (t) =>
  onEachStore(t, {
    'two nodes that want all they can get: never more than the quota in any minute': async (
      t: Test,
      { sql },
    ) => {
      const { draw, pass, nowMs } = sceneOf(sql);
      const grants: Grant[] = [];
      const node = async () => {
        const atMs = nowMs();
        const { granted } = await draw(2_500);
        // The earliest time that it may have been: that makes the windows fuller.
        grants.push({ atMs, permits: granted });
      };
      for (let step = 0; step < 360; step += 1) {
        await Promise.all([node(), node(), node()]);
        await pass(500);
      }
      grants.sort((a, b) => a.atMs - b.atMs);
      const endMs = nowMs();
      // The time between asking and the bucket's own look at the clock is not ours to know: a
      // thousandth of a minute.
      t.ok(mostWithin(60_000, grants) <= PER_MINUTE * 1.001, `${mostWithin(60_000, grants)}`);
      t.ok(sumOf(grants, 0, 5_000) >= 10_000, 'ten thousand at once');
      const early = sumOf(grants, 5_000, 15_000);
      t.ok(early < 40_000, `${early} in the second five seconds: it rises, it does not jump`);
      const late = sumOf(grants, endMs - 60_000, endMs);
      t.ok(late > 570_000, `${late} in the last minute: all of it, but a little`);
    },

    'idle, it falls to the bottom of its ramp again; the burst is always there': async (
      t: Test,
      { sql },
    ) => {
      const { draw, pass } = sceneOf(sql);
      for (let step = 0; step < 300; step += 1) {
        await draw(5_000);
        await pass(250);
      }
      await pass(120_000);
      t.match(await draw(20_000), { granted: 10_000 });
      await pass(1_000);
      const { granted } = await draw(20_000);
      t.ok(granted >= 900 && granted < 3_000, `${granted} in the next second`);
    },

    'a few messages all the time do not climb the ramp': async (t: Test, { sql }) => {
      const { draw, pass } = sceneOf(sql);
      for (let step = 0; step < 200; step += 1) {
        t.match(await draw(50), { granted: 50 });
        await pass(500);
      }
      await draw(20_000);
      await pass(1_000);
      const { granted } = await draw(20_000);
      t.ok(granted < 3_000, `${granted}`);
    },

    'a pause holds for all, a longer one stays; what comes back is there': async (
      t: Test,
      { sql },
    ) => {
      const { draw, pause, pass, giveBack } = sceneOf(sql);
      await pause(120_000);
      await pause(60_000);
      const paused = await draw(10);
      t.equal(paused.granted, 0);
      t.ok(paused.pausedForMs > 110_000);
      await pass(121_000);
      t.match(await draw(20_000), { granted: 10_000, pausedForMs: 0 });
      await giveBack(500);
      const { granted } = await draw(20_000);
      t.ok(granted >= 500 && granted < 3_000, `${granted}`);
      await giveBack(1_000_000);
      t.match(await draw(20_000), { granted: 10_000 }, 'never more than the burst');
    },

    'a small quota: one at a time, and it says when the next is there': async (
      t: Test,
      { sql },
    ) => {
      const { draw, pass } = sceneOf(sql, 60);
      t.match(await draw(5), { granted: 1 });
      const { granted, nextInMs } = await draw(5);
      t.equal(granted, 0);
      t.ok(nextInMs > 5_000 && nextInMs < 11_000, `${nextInMs} ms at a tenth of the rate`);
      await pass(nextInMs);
      t.match(await draw(5), { granted: 1 });
    },
  }),
);
