import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { Planner } from '../../../src/push/plan/planner.ts';
import { nextUrgentInMs } from '../../../src/push/sql/notifications/next-urgent.ts';
import type {
  DueQueue,
  PlannedNotification,
} from '../../../src/push/sql/notifications/plan-due.ts';
import {
  LARGE_AT_ONCE_MAX,
  LARGE_WEIGHT,
  PLANNED_AT_ONCE_MAX,
  planDue,
} from '../../../src/push/sql/notifications/plan-due.ts';
import type { Tenant } from '../../support/notifications.ts';
import { makeNotification, makeTenant } from '../../support/notifications.ts';
import { until } from '../../support/poll.ts';
import { seedDevices } from '../../support/seed.ts';
import { SILENT_JOURNAL } from '../../support/silent-journal.ts';
import { withStores } from '../../support/store.ts';

const PLATFORM = 3;

function startPlanner(store: Store, fullQueues: readonly DueQueue[] = []) {
  const planned: PlannedNotification[] = [];
  const planner = new Planner({
    journal: SILENT_JOURNAL,
    store,
    log: pino({ level: 'silent' }),
    fullQueues: () => fullQueues,
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
    t.strictSame(scopes, [{ appId: tenant.appId, platformId: PLATFORM, chunks: 6 }]);
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

  await t.test('the lines of all clients take turns, and full ones are left out', async (t) => {
    const crowded = await makeAudience(store, 'crowded', 1);
    const single = await makeAudience(store, 'single', 1);
    const crowd: string[] = [];
    for (let n = 0; n < PLANNED_AT_ONCE_MAX + 8; n += 1) {
      crowd.push(await makeNotification(sql, crowded));
    }
    const alone = await makeNotification(sql, single);
    const planned = await planDue(sql);
    const first = planned.map(({ id }) => id);
    t.equal(first.length, PLANNED_AT_ONCE_MAX);
    t.strictSame(
      planned.map(({ weightBefore }) => weightBefore),
      first.map((_, n) => n),
      'each weighs 1',
    );
    t.ok(first.includes(alone), 'the last one that came');
    const line = { clientId: crowded.clientId, isScheduled: false, isUrgent: false };
    t.equal((await planDue(sql, [line])).length, 0, 'its line is full');
    await sql`
      update notifications set state = 'SCHEDULED' where id = ${crowd.at(-1) ?? ''}`;
    const [other] = await planDue(sql, [line]);
    t.match(other, { id: crowd.at(-1), isScheduled: true }, 'its other line is not');
    t.equal((await planDue(sql)).length, crowd.length + 1 - first.length - 1);
    await sql`delete from notifications where id = any(${[...crowd, alone]}::uuid[])`;
  });

  await t.test(
    'of those with many groups no more than sixteen are planned at a time',
    async (t) => {
      const wide = await makeAudience(store, 'wide', 12);
      const ids: string[] = [];
      for (let n = 0; n < 20; n += 1) ids.push(await makeNotification(sql, wide));
      const planned = await planDue(sql);
      t.equal(planned.length, LARGE_AT_ONCE_MAX);
      t.strictSame(
        planned.map(({ weightBefore }) => weightBefore),
        planned.map((_, n) => n * LARGE_WEIGHT),
      );
      t.equal((await planDue(sql)).length, ids.length - LARGE_AT_ONCE_MAX);
      await sql`delete from notifications where id = any(${ids}::uuid[])`;
    },
  );

  await t.test('of those with many tags no more than sixteen are planned at a time', async (t) => {
    const tenant = await makeAudience(store, 'many-tags', 1);
    const ids: string[] = [];
    for (let n = 0; n < 20; n += 1) ids.push(await makeNotification(sql, tenant));
    const weighted = async (anyTags: number, allTags: number): Promise<number> => {
      await sql`
        update notifications set
          any_tag_ids = array(select ${tenant.tagId}::integer + n from generate_series(0, ${anyTags - 1}::integer) as n),
          all_tag_ids = array(select ${tenant.tagId}::integer + n from generate_series(1, ${allTags}::integer) as n)
        where id = any(${ids}::uuid[])`;
      return (await planDue(sql)).length;
    };
    t.equal(await weighted(250, 50), LARGE_AT_ONCE_MAX);
    t.equal(await weighted(200, 50), ids.length - LARGE_AT_ONCE_MAX, 'the rest');
    await sql`delete from notifications where id = any(${ids}::uuid[])`;
    for (let n = 0; n < 20; n += 1) ids[n] = await makeNotification(sql, tenant);
    t.equal(await weighted(200, 50), ids.length, 'not so many');
    await sql`delete from notifications where id = any(${ids}::uuid[])`;
  });

  await t.test('what takes too long together is planned in smaller numbers', async (t) => {
    const tenant = await makeAudience(store, 'dear', 6);
    // In place of a statement that runs into its limit of time.
    await sql.unsafe(`
      create function refuse() returns trigger language plpgsql as $$ begin
        if (select count(*) from added) > 30 then raise exception 'too long' using errcode = '57014'; end if;
        return null;
      end $$;
      create trigger refuse after insert on chunks referencing new table as added
        for each statement execute function refuse()`);
    const ids: string[] = [];
    for (let n = 0; n < 24; n += 1) ids.push(await makeNotification(sql, tenant));
    const { planner, planned } = startPlanner(store);
    await until('all are planned', () => (planned.length === ids.length ? true : null));
    t.strictSame(planned.map(({ id }) => id).sort(), ids.sort());
    await sql.unsafe('drop function refuse cascade');
    const whole: string[] = [];
    for (let n = 0; n < 24; n += 1) whole.push(await makeNotification(sql, tenant));
    await until('the rest is planned', () => (planned.length === 48 ? true : null));
    t.strictSame(
      planned
        .slice(24)
        .map(({ id }) => id)
        .sort(),
      whole.sort(),
    );
    await planner.stop();
    await sql`delete from notifications where id = any(${[...ids, ...whole]}::uuid[])`;
  });

  await t.test('urgent ones are planned first, and the rest keeps a fifth', async (t) => {
    const tenant = await makeAudience(store, 'urgent', 1);
    const other = await makeAudience(store, 'beside', 1);
    const of = async (count: number, isUrgent: boolean, of = tenant): Promise<string[]> => {
      const ids: string[] = [];
      for (let n = 0; n < count; n += 1) ids.push(await makeNotification(sql, of, { isUrgent }));
      return ids;
    };
    const waiting = await of(PLANNED_AT_ONCE_MAX + 8, false);
    const few = await of(3, true);
    const first = await planDue(sql);
    t.strictSame(
      first.filter(({ isUrgent }) => isUrgent).map(({ id }) => id),
      few,
      'behind more than are planned at a time',
    );
    await planDue(sql);

    const ordinary = await of(100, false);
    const urgent = await of(100, true);
    const beside = await of(PLANNED_AT_ONCE_MAX - 100, false, other);
    const planned = await planDue(sql);
    const count = (ids: readonly string[]) => planned.filter(({ id }) => ids.includes(id)).length;
    t.equal(count(beside), beside.length, 'another client has its turns, as if nobody were urgent');
    t.equal(count(urgent), 80, 'four of five of the others');
    t.equal(count(ordinary), 20);
    const line = { clientId: tenant.clientId, isScheduled: false, isUrgent: true };
    t.notOk(
      (await planDue(sql, [line])).some(({ isUrgent }) => isUrgent),
      'its line is full',
    );
    const all = [...waiting, ...few, ...ordinary, ...urgent, ...beside];
    await sql`delete from notifications where id = any(${all}::uuid[])`;
  });

  await t.test('a look knows when the next urgent one is due', async (t) => {
    const tenant = await makeAudience(store, 'soon', 1);
    const ids = [
      await makeNotification(sql, tenant, { isUrgent: true }),
      await makeNotification(sql, tenant),
    ];
    const inMs = async (id: string | undefined, ms: number) => {
      await sql`
        update notifications set state = 'SCHEDULED',
          send_at = clock_timestamp() + ${ms}::float8 * interval '1 millisecond'
        where id = ${id ?? ''}`;
    };
    await inMs(ids[0], 3_600_000);
    await inMs(ids[1], 20_000);
    t.equal(await nextUrgentInMs(sql, 60_000), null, 'that one is not urgent');
    await inMs(ids[0], 40_000);
    const next = await nextUrgentInMs(sql, 60_000);
    t.ok(next !== null && next > 20_000 && next <= 40_000, `in ${next}`);
    t.equal(await nextUrgentInMs(sql, 250), null, 'not yet');
    await inMs(ids[0], -1_000);
    t.equal(await nextUrgentInMs(sql, 60_000), null, 'it is due, and planned anyway');
    await sql`delete from notifications where id = any(${ids}::uuid[])`;
  });
});
