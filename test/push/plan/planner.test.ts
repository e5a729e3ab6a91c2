import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import t from 'tap';
import { Planner } from '../../../src/push/plan/planner.ts';
import type { PlannedNotification } from '../../../src/store/notifications/plan-due.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Tenant } from '../../support/notifications.ts';
import { makeNotification, makeTenant } from '../../support/notifications.ts';
import { until } from '../../support/poll.ts';
import { seedDevices } from '../../support/seed.ts';
import { withStores } from '../../support/store.ts';

const PLATFORM = 3;

function startPlanner({ sql }: Store) {
  const planned: PlannedNotification[] = [];
  const planner = new Planner({
    sql,
    log: pino({ level: 'silent' }),
    onPlanned: (some) => planned.push(...some),
  });
  planner.start();
  const isPlanned = (id: string): Promise<PlannedNotification> =>
    until(`${id} is planned`, () => planned.find((one) => one.id === id) ?? null);
  return { planner, planned, isPlanned };
}

/** One device in each of so many groups, all of them with the tag. */
async function makeAudience({ sql }: Store, slug: string, groups: number): Promise<Tenant> {
  const tenant = await makeTenant(sql, slug);
  const { appId, tagId } = tenant;
  const count = groups;
  await seedDevices(sql, { appId, platformId: PLATFORM, tagIds: [tagId], count, step: 8_192 });
  return tenant;
}

await withStores(t, async (t, store) => {
  const { sql } = store;

  await t.test('a push is planned where its audience is', async (t) => {
    const tenant = await makeAudience(store, 'accepted', 6);
    const { planner, isPlanned } = startPlanner(store);
    const id = await makeNotification(sql, tenant);
    planner.wake();
    const { scopes, clientId } = await isPlanned(id);
    t.strictSame(scopes, [{ appId: tenant.appId, platformId: PLATFORM }]);
    t.equal(clientId, tenant.clientId);
    const [row] = await sql`select open_chunks as chunks from notifications where id = ${id}`;
    t.same(row, { chunks: 6 });
    await planner.stop();
  });

  await t.test('more at once than are planned at a time: all of them are planned', async (t) => {
    const tenant = await makeAudience(store, 'many', 6);
    const ids: string[] = [];
    for (let n = 0; n < 40; n += 1) ids.push(await makeNotification(sql, tenant));
    const { planner, planned } = startPlanner(store);
    await until('all are planned', () => (planned.length === ids.length ? true : null));
    t.strictSame(planned.map(({ id }) => id).sort(), ids.sort());
    await planner.stop();
  });

  await t.test('pushes that keep coming do not keep it from what was scheduled', async (t) => {
    const tenant = await makeAudience(store, 'busy', 6);
    const { planner, isPlanned } = startPlanner(store);
    const scheduled = await makeNotification(sql, tenant);
    let isThere = false;
    const found = isPlanned(scheduled).finally(() => {
      isThere = true;
    });
    while (!isThere) {
      planner.wake();
      await nextTurn();
    }
    await found;
    await planner.stop();
    t.pass();
  });
});
