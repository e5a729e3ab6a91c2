import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import t from 'tap';
import { Planner } from '../../src/fan-out/planner.ts';
import type { ExpectedPush } from '../../src/fan-out/survey.ts';
import type { PlannedNotification } from '../../src/store/notifications/plan-due.ts';
import type { Store } from '../../src/store/store.ts';
import { SqlTagIndex } from '../../src/tag-index/sql/sql-tag-index.ts';
import type { TagIndex } from '../../src/tag-index/tag-index.ts';
import type { Tenant } from '../support/notifications.ts';
import { makeNotification, makeTenant } from '../support/notifications.ts';
import { until } from '../support/poll.ts';
import { seedDevices } from '../support/seed.ts';
import { withStores } from '../support/store.ts';

const PLATFORM = 3;

function startPlanner({ sql }: Store, tagIndex: TagIndex = new SqlTagIndex(sql)) {
  const planned: PlannedNotification[] = [];
  const planner = new Planner({
    sql,
    tagIndex,
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

/** A notification that is not due, as if it were not there yet. */
const makeLater = ({ sql }: Store, tenant: Tenant): Promise<string> =>
  sql.begin(async (tx) => {
    const id = await makeNotification(tx, tenant);
    await tx`update notifications set send_at = now() + interval '1 hour' where id = ${id}`;
    return id;
  });

const makeDue = ({ sql }: Store, ids: readonly string[]) =>
  sql`update notifications set send_at = now() where id in ${sql([...ids])}`;

const expected = ({ appId, tagId }: Tenant, notificationId: string): ExpectedPush => ({
  notificationId,
  audience: { anyTagIds: [tagId], allTagIds: [], noneTagIds: [] },
  scopes: [{ appId, platformId: PLATFORM }],
});

await withStores(t, async (t, store) => {
  const { sql } = store;

  await t.test('a push is surveyed while it is accepted, and planned when it is', async (t) => {
    const tenant = await makeAudience(store, 'expected', 6);
    const asked: string[] = [];
    const database = new SqlTagIndex(sql);
    const { planner, isPlanned } = startPlanner(store, {
      resolve: (request) => database.resolve(request),
      recheck: (...all) => database.recheck(...all),
      count: (...all) => database.count(...all),
      occupiedGroups: (audience, groups) => {
        asked.push(String(audience.anyTagIds));
        return database.occupiedGroups(audience, groups);
      },
    });
    const id = await makeLater(store, tenant);
    const accepted = planner.expect(expected(tenant, id));
    await until('it is surveyed', () => (asked.includes(String(tenant.tagId)) ? true : null));
    await makeDue(store, [id]);
    accepted();
    const { scopes, clientId } = await isPlanned(id);
    t.strictSame(scopes, [{ appId: tenant.appId, platformId: PLATFORM }]);
    t.equal(clientId, tenant.clientId);
    const [row] = await sql`select open_chunks as chunks from notifications where id = ${id}`;
    t.same(row, { chunks: 6 });
    await planner.stop();
  });

  await t.test('more at once than are surveyed ahead: all of them are planned', async (t) => {
    const tenant = await makeAudience(store, 'many', 6);
    const { planner, planned } = startPlanner(store);
    const ids: string[] = [];
    for (let n = 0; n < 12; n += 1) {
      ids.push(await makeLater(store, tenant));
    }
    const accepted = ids.map((id) => planner.expect(expected(tenant, id)));
    await makeDue(store, ids);
    for (const tell of accepted) tell();
    await until('all are planned', () => (planned.length === ids.length ? true : null));
    t.strictSame(planned.map(({ id }) => id).sort(), ids.sort());
    await planner.stop();
  });

  await t.test('a survey that fails: it is planned by looking', async (t) => {
    const tenant = await makeAudience(store, 'failing', 6);
    const database = new SqlTagIndex(sql);
    let questions = 0;
    const { planner, isPlanned } = startPlanner(store, {
      resolve: (request) => database.resolve(request),
      recheck: (...all) => database.recheck(...all),
      count: (...all) => database.count(...all),
      occupiedGroups: (...all) => {
        questions += 1;
        return questions === 1
          ? Promise.reject(new Error('out of order'))
          : database.occupiedGroups(...all);
      },
    });
    const id = await makeLater(store, tenant);
    const accepted = planner.expect(expected(tenant, id));
    await makeDue(store, [id]);
    accepted();
    await isPlanned(id);
    t.equal(questions, 2);
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
    let pushes = 0;
    // Never accepted: the planner is woken by each of them all the same, and has always a next one.
    while (!isThere) {
      planner.expect(expected(tenant, '00000000-0000-7000-8000-000000000000'))();
      pushes += 1;
      await nextTurn();
    }
    await found;
    t.ok(pushes > 0);
    await planner.stop();
  });
});
