/**
 * Sends by day: the same at every moment, before and after they are counted, whichever node counts
 * or dies meanwhile, and when the notifications are gone.
 */

import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Sql, SqlPool } from '../../src/database/sql.ts';
import type { NotificationState } from '../../src/domain/notification.ts';
import { PARKED } from '../../src/domain/progress.ts';
import { releaseParked } from '../../src/push/sql/ledger/parked-parts.ts';
import { recordProgress } from '../../src/push/sql/ledger/record-progress.ts';
import { planDue } from '../../src/push/sql/notifications/plan-due.ts';
import { countEnded, listEnded } from '../../src/statistics/count-ended.ts';
import type { StatisticsDay, Subject } from '../../src/statistics/read-statistics.ts';
import { statisticsDays } from '../../src/statistics/read-statistics.ts';
import { UNCOUNTED_ENDS, UNLISTED_ENDS } from '../../src/statistics/upkeep.ts';
import { chunkReport } from '../support/chunk-report.ts';
import { claimChunksOf, makeNotification, makeRunning } from '../support/notifications.ts';
import { onEachStore } from '../support/on-each-store.ts';
import { until } from '../support/poll.ts';
import type { Tenant } from '../support/tenant.ts';
import { makeTenant } from '../support/tenant.ts';
import { upkeepOf } from '../support/upkeep.ts';

interface Sent {
  readonly tagIds: readonly number[];
  readonly acceptedAt: string;
  readonly state?: NotificationState;
  /** Delivered and failed by app. */
  readonly scopes: readonly (readonly [appId: number, delivered: number, failed: number])[];
}

async function keepStatistics(sql: SqlPool): Promise<void> {
  for (const job of [UNLISTED_ENDS, UNCOUNTED_ENDS]) {
    await upkeepOf(sql, job).run(Date.now());
  }
}

async function insertSent(sql: Sql, { clientId }: Tenant, sent: Sent): Promise<string> {
  const id = randomUUID();
  const state = sent.state ?? 'FINISHED';
  await sql`
    insert into notifications
      (id, client_id, user_name, state, any_tag_ids, all_tag_ids, none_tag_ids, payload, accepted_at, finished_at)
    values (${id}, ${clientId}, 'user', ${state}, ${[...sent.tagIds]}, '{}', '{}', '{}', ${sent.acceptedAt},
      case when ${state === 'FINISHED'} then now() end)`;
  for (const [at, [appId, delivered, failed]] of sent.scopes.entries()) {
    await sql`
      insert into notification_scopes (notification_id, app_id, platform_id, simulated, total, delivered, failed)
      values (${id}, ${appId}, ${at}, false, ${delivered + failed}, ${delivered}, ${failed})`;
  }
  return id;
}

/** A client with two tags and two apps that have sent on two days, and what that comes to. */
async function makeScene(sql: SqlPool) {
  const tenant = await makeTenant(sql, 'acme');
  const other = await makeTenant(sql, 'other');
  const [goals = 0, news = 0] = await tenant.makeTags(2);
  const [foreign = 0] = await other.makeTags(1);
  const [one, two] = [tenant.appId, await tenant.makeApp()];
  const ids: string[] = [];
  for (const sent of [
    {
      tagIds: [goals, news, goals],
      acceptedAt: '2026-01-01T23:59:59.999Z',
      scopes: [
        [one, 5, 1],
        [one, 2, 0],
        [two, 7, 3],
      ],
    },
    { tagIds: [goals], acceptedAt: '2026-01-02T00:00:00Z', scopes: [[one, 10, 0]] },
    {
      tagIds: [goals],
      acceptedAt: '2026-01-02T10:00:00Z',
      state: 'RUNNING',
      scopes: [
        [one, 4, 4],
        [two, 0, 0],
      ],
    },
    { tagIds: [news], acceptedAt: '2026-01-02T12:00:00Z', scopes: [] },
  ] as const satisfies readonly Sent[]) {
    ids.push(await insertSent(sql, tenant, sent));
  }
  await insertSent(sql, other, {
    tagIds: [foreign],
    acceptedAt: '2026-01-02T00:00:00Z',
    scopes: [[other.appId, 1_000, 1_000]],
  });
  const subject = (kind: 'tag' | 'app', id: number): Subject => ({
    kind,
    id,
    clientId: tenant.clientId,
  });
  return {
    ids,
    goals,
    tenant,
    read: async () => ({
      goals: sentDays(await statisticsDays(sql, subject('tag', goals))),
      news: sentDays(await statisticsDays(sql, subject('tag', news))),
      one: sentDays(await statisticsDays(sql, subject('app', one))),
      two: sentDays(await statisticsDays(sql, subject('app', two))),
    }),
    expected: {
      goals: [
        ['2026-01-01', 1, 14, 4, '23:59:59.999Z'],
        ['2026-01-02', 2, 14, 4, '10:00:00.000Z'],
      ],
      news: [
        ['2026-01-01', 1, 14, 4, '23:59:59.999Z'],
        ['2026-01-02', 1, 0, 0, '12:00:00.000Z'],
      ],
      one: [
        ['2026-01-01', 1, 7, 1, '23:59:59.999Z'],
        ['2026-01-02', 2, 14, 4, '10:00:00.000Z'],
      ],
      two: [
        ['2026-01-01', 1, 7, 3, '23:59:59.999Z'],
        ['2026-01-02', 1, 0, 0, '10:00:00.000Z'],
      ],
    },
  };
}

const sentDays = (days: readonly StatisticsDay[]) =>
  days.map(({ date, notifications, delivered, failed, lastNotificationAt }) => [
    date,
    notifications,
    delivered,
    failed,
    new Date(lastNotificationAt ?? 0).toISOString().slice(11),
  ]);

/** The only day: before it are the devices that were there from the beginning. */
const today = async (sql: Sql, subject: Subject): Promise<StatisticsDay | undefined> =>
  (await statisticsDays(sql, subject)).find(({ date }) => date !== null);

/** No object has it or the next six: the sequence of ids is far below. */
const FIRST_OTHER_TAG_ID = 1_000_000_000;

const uncounted = async (sql: Sql): Promise<number> =>
  (await sql`select from ended_notifications`).length;

await onEachStore(t, {
  'each counts once, at every moment between its end and the end of the counting': async (
    t,
    { sql },
  ) => {
    const scene = await makeScene(sql);
    const holds = async (when: string) => t.same(await scene.read(), scene.expected, when);
    await holds('nobody has listed them');
    t.equal(await listEnded(sql, 2), 2);
    await holds('two are listed');
    t.equal(await listEnded(sql, 100), 2);
    t.equal(await listEnded(sql, 100), 0);
    await holds('all are listed');
    t.equal(await countEnded(sql, 1), 1);
    await holds('one is counted');
    const killed = sql.begin(async (tx) => {
      t.equal(await countEnded(tx, 100), 3);
      throw new Error('killed');
    });
    await t.rejects(killed, /^killed$/);
    t.equal(await uncounted(sql), 3);
    await holds('a node died while it counted the others');
    t.equal(await countEnded(sql, 100), 3);
    await holds('all are counted');
    t.equal(await countEnded(sql, 100), 0);
    await sql`delete from notifications where finished_at is not null`;
    await holds('the notifications are gone');
  },

  'nodes that list and count at once count each once': async (t, { sql }) => {
    const scene = await makeScene(sql);
    const { clientId } = scene.tenant;
    await sql`
      insert into notifications
        (id, client_id, user_name, state, any_tag_ids, all_tag_ids, none_tag_ids, payload, accepted_at, finished_at)
      select gen_random_uuid(), ${clientId}, 'user', 'FINISHED', array[${scene.goals}::integer, ${FIRST_OTHER_TAG_ID} + n % 7, ${FIRST_OTHER_TAG_ID} + n % 5], '{}', '{}', '{}',
        '2026-02-01T12:00:00Z'::timestamptz + n % 2 * interval '1 day', now()
      from generate_series(1, 2400) n`;
    await sql`
      insert into notification_scopes (notification_id, app_id, platform_id, simulated, total, delivered, failed)
      select id, ${scene.tenant.appId}, 3, false, 3, 2, 1 from notifications where accepted_at > '2026-02-01'`;
    const before = await scene.read();
    t.same(before.goals.slice(2), [
      ['2026-02-01', 1_200, 2_400, 1_200, '12:00:00.000Z'],
      ['2026-02-02', 1_200, 2_400, 1_200, '12:00:00.000Z'],
    ]);
    await Promise.all([1, 2, 3].map(() => keepStatistics(sql)));
    // One of them passed over the rows that another one had taken.
    await keepStatistics(sql);
    t.equal(await uncounted(sql), 0);
    t.same(await scene.read(), before);
    const [sums] = await sql`
      select sum(notifications)::int as notifications from notification_days where object_id >= ${FIRST_OTHER_TAG_ID}`;
    const tagsOfEach = Array.from(
      { length: 2_400 },
      (_, at) => new Set([(at + 1) % 7, (at + 1) % 5]),
    );
    const notifications = tagsOfEach.reduce((sum, tags) => sum + tags.size, 0);
    t.same(sums, { notifications }, 'by each of its tags, once');
  },

  'the transaction that ends one lists it; what goes on is counted anew': async (t, store) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    const tagId = await tenant.makeTag();
    const { clientId, appId } = tenant;
    const id = await makeRunning(sql, { clientId, appId, tagId }, 10);
    const connection = store.openDedicatedConnection();
    t.teardown(() => connection.close());
    const sent = async () => {
      const day = await today(sql, { kind: 'tag', id: tagId, clientId });
      return [day?.notifications, day?.delivered, day?.failed];
    };
    const end = async (delivered: number, failed: number, isParked: boolean) => {
      const [chunk] = await claimChunksOf(sql, id, 60_000);
      if (chunk === undefined) throw new Error('nothing to claim');
      await recordProgress(
        connection,
        [
          chunkReport(chunk, {
            blocks: isParked ? 0n : -1n,
            counts: { total: 10, delivered, failed, skipped: 0, expired: 0, cancelled: 0 },
            reasons: [[isParked ? PARKED : 'Unregistered', failed]],
            sends: 10,
            ...(isParked ? { isParked } : {}),
          }),
        ],
        60_000,
      );
    };
    t.same(await sent(), [1, 0, 0]);
    await end(0, 10, true);
    t.same([...(await sql`select notification_id as id from ended_notifications`)], [{ id }]);
    t.equal(await listEnded(sql, 100), 0, 'nothing is left to list');
    t.same(await sent(), [1, 0, 10]);

    t.equal(await releaseParked(sql, id), 10);
    t.equal(await uncounted(sql), 0);
    await keepStatistics(sql);
    t.same(await sent(), [1, 0, 0], 'it goes on before it was counted');

    await end(0, 10, true);
    await keepStatistics(sql);
    t.same(await sent(), [1, 0, 10]);
    t.equal(await releaseParked(sql, id), 10);
    t.same(await sent(), [1, 0, 0], 'it goes on after it was counted');
    const days =
      await sql`select sum(notifications)::int as count, sum(failed)::int as failed from notification_days`;
    t.same([...days], [{ count: 0, failed: 0 }]);

    await end(9, 1, false);
    t.same(await sent(), [1, 9, 1]);
    await keepStatistics(sql);
    t.same(await sent(), [1, 9, 1], 'it has ended for good');
    t.equal(await releaseParked(sql, id), null);
    await keepStatistics(sql);
    t.same(await sent(), [1, 9, 1], 'nothing was parked');
  },

  'one that was planned for nobody is listed with its end': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'acme');
    const tagId = await tenant.makeTag();
    const { clientId, appId } = tenant;
    const id = await makeNotification(sql, { clientId, appId, tagId });
    await planDue(sql);
    t.same([...(await sql`select notification_id as id from ended_notifications`)], [{ id }]);
    t.equal(await listEnded(sql, 10), 0);
    t.equal(await countEnded(sql, 10), 1);
    const day = await today(sql, { kind: 'app', id: appId, clientId });
    t.match(day, { notifications: 1, delivered: 0, failed: 0 });
  },

  'who lets one go on waits for the node that is counting it': async (t, store) => {
    // The embedded store is one session: no statement can wait inside of a transaction.
    if (store.address.kind === 'embedded') return;
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    const tagId = await tenant.makeTag();
    const { clientId, appId } = tenant;
    const id = await makeRunning(sql, { clientId, appId, tagId }, 10);
    await sql`update chunks set parked_at = now(), parked_devices = 10, available_at = 'infinity'`;
    await sql`update notification_scopes set total = 10, failed = 10`;
    await sql`update notifications set state = 'FINISHED', finished_at = now(), open_chunks = 0`;
    await listEnded(sql, 1);
    let released: Promise<number | null> | null = null;
    await sql.begin(async (tx) => {
      t.equal(await countEnded(tx, 1), 1);
      released = releaseParked(sql, id);
      await until('it waits', async () => {
        const [waiting] = await tx`select from pg_locks where not granted`;
        return waiting === undefined ? null : true;
      });
    });
    t.equal(await released, 10);
    await keepStatistics(sql);
    const day = await today(sql, { kind: 'tag', id: tagId, clientId });
    t.match(day, { notifications: 1, delivered: 0, failed: 0 });
  },
});
