import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import t from 'tap';
import { LOOK_INTERVAL_MS, StandingWatch } from '../../../src/push/dispatch/standing-watch.ts';
import type { NotificationOrders } from '../../../src/push/sql/ledger/read-orders.ts';
import { makeRunning, makeTenant } from '../../support/notifications.ts';
import { until } from '../../support/poll.ts';
import { withStores } from '../../support/store.ts';

const log = pino({ level: 'silent' });

await withStores(t, async (t, { sql }) => {
  await t.test('tells how it stands with what is under way, and of nothing else', async (t) => {
    const tenant = await makeTenant(sql, 'watched');
    const [id, other] = [await makeRunning(sql, tenant, 1), await makeRunning(sql, tenant, 1)];
    const told: NotificationOrders[] = [];
    let asked = 0;
    let underWay: readonly string[] = [];
    const watch = new StandingWatch({
      sql,
      log,
      underWayFor: () => {
        asked += 1;
        return underWay;
      },
      tell: (orders) => void told.push(...orders),
    });
    watch.start();
    await until('it has looked', () => (asked > 1 ? true : null));
    t.same(told, [], 'nothing is under way, and nothing is read');
    underWay = [id];
    await until('it tells', () => (told.length > 0 ? true : null));
    t.same(told[0], {
      notificationId: id,
      state: 'RUNNING',
      expiresAtMs: null,
      isPaced: false,
    });
    await sql`
      update notifications
      set state = 'PAUSED', expires_at = to_timestamp(1700000000), rate_per_second = 10
      where id in (${id}::uuid, ${other}::uuid)`;
    const paused = await until(
      'it tells of the change',
      () => told.find(({ state }) => state === 'PAUSED') ?? null,
    );
    t.same(paused, {
      notificationId: id,
      state: 'PAUSED',
      expiresAtMs: 1_700_000_000_000,
      isPaced: true,
    });
    await watch.stop();
    t.notOk(told.some(({ notificationId }) => notificationId === other));
    const before = asked;
    await sleep(2 * LOOK_INTERVAL_MS);
    t.equal(asked, before, 'stopped, it looks no more');
  });
});
