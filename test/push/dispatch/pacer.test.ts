import { pino } from 'pino';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { Pacer } from '../../../src/push/dispatch/pacer.ts';
import type { PaceSpan } from '../../../src/push/protocol/pace.ts';
import { systemClock } from '../../../src/std/clock.ts';
import type { Tenant } from '../../support/notifications.ts';
import { makeNotification, makeTenant } from '../../support/notifications.ts';
import { until } from '../../support/poll.ts';
import { withStores } from '../../support/store.ts';

/** A task that notes its spans, and asks for the next one while it is to. */
function taskOf(
  pacer: Pacer,
  notificationId: string,
  { appId }: Tenant,
  { platformId = 3, goesOn = true } = {},
) {
  const spans: PaceSpan[] = [];
  const task = { spans, goesOn };
  const member = pacer.join({ notificationId, appId, platformId }, (span) => {
    spans.push(span);
    if (task.goesOn) member.hear({ kind: 'wanted' });
  });
  return Object.assign(task, { member });
}

const sendsIn = (spans: readonly PaceSpan[]): number =>
  spans.reduce((total, { sends }) => total + sends, 0);

/** How much of a rate of 500 a second two nodes are given together. */
async function shareOfRate(store: Store, id: string, tenant: Tenant): Promise<number> {
  const tasks = [pacerOf(store), pacerOf(store)].map((pacer) => taskOf(pacer, id, tenant));
  const beganMs = systemClock.monotonicMs();
  for (const { member } of tasks) member.hear({ kind: 'wanted' });
  await until('each has some', () => (tasks.every(({ spans }) => spans.length >= 6) ? true : null));
  for (const task of tasks) {
    task.goesOn = false;
    task.member.leave();
  }
  const spans = tasks.flatMap((task) => task.spans);
  const allowed = ((Math.max(...spans.map(({ endMs }) => endMs)) - beganMs) / 1_000) * 500;
  // One more may be begun.
  return (sendsIn(spans) - 1) / allowed;
}

const pacerOf = ({ sql }: Store) =>
  new Pacer({ sql, clock: systemClock, log: pino({ level: 'silent' }) });

await withStores(t, async (t, store) => {
  const tenant = await makeTenant(store.sql, 'paced');
  const begin = (ratePerSecond: number) => makeNotification(store.sql, tenant, { ratePerSecond });

  await t.test(
    'the task that came first is served first, and each scope in its turn',
    async (t) => {
      const id = await begin(1_000);
      const pacer = pacerOf(store);
      const tasks = [
        taskOf(pacer, id, tenant),
        taskOf(pacer, id, tenant),
        taskOf(pacer, id, tenant, { platformId: 15 }),
      ];
      const [first, second, android] = tasks;
      for (const { member } of tasks) member.hear({ kind: 'wanted' });
      await until('some is given', () => ((first?.spans.length ?? 0) >= 4 ? true : null));
      t.equal(second?.spans.length, 0, 'it waits for the one before it');
      t.ok((android?.spans.length ?? 0) >= 3, 'the other scope gets as many');
      if (first !== undefined) first.goesOn = false;
      first?.member.hear({ kind: 'unused', spans: [] });
      first?.member.leave();
      await until('the next one has its turn', () =>
        (second?.spans.length ?? 0) > 1 ? true : null,
      );
      for (const task of tasks) {
        task.goesOn = false;
        task.member.leave();
      }
    },
  );

  await t.test('many sends are divided, and what comes back is given again', async (t) => {
    const id = await begin(100_000);
    const pacer = pacerOf(store);
    const tasks = Array.from({ length: 4 }, () => taskOf(pacer, id, tenant, { goesOn: false }));
    for (const { member } of tasks) member.hear({ kind: 'wanted' });
    await until('all have some', () =>
      tasks.every(({ spans }) => spans.length === 1) ? true : null,
    );
    t.strictSame(
      tasks.map(({ spans }) => spans[0]?.sends),
      [2_500, 2_500, 2_500, 2_500],
    );
    const [one, other] = tasks;
    const nowMs = systemClock.monotonicMs();
    const rest = { sends: 7, startMs: nowMs + 60_000, endMs: nowMs + 60_100 };
    one?.member.hear({ kind: 'unused', spans: [rest] });
    one?.member.leave();
    other?.member.hear({ kind: 'wanted' });
    t.strictSame(other?.spans[1], rest);
    for (const { member } of tasks) member.leave();
  });

  await t.test('two nodes together keep the rate', async (t) => {
    // A machine that rests for a moment loses what was not drawn in it. One of several rounds is
    // without such a rest.
    const shares: number[] = [];
    while (Math.max(0, ...shares) < 0.8 && shares.length < 5) {
      shares.push(await shareOfRate(store, await begin(500), tenant));
    }
    t.ok(Math.max(...shares) >= 0.8, `${shares} of the rate`);
    t.ok(Math.max(...shares) <= 1, `${shares} of the rate`);
  });

  await t.test('while the database is away nothing is given; then it goes on', async (t) => {
    const id = await begin(1_000);
    const task = taskOf(pacerOf(store), id, tenant, { goesOn: false });
    await store.sql`alter table notification_paces rename to away`;
    task.member.hear({ kind: 'wanted' });
    await new Promise((resolve) => setTimeout(resolve, 300));
    t.equal(task.spans.length, 0);
    await store.sql`alter table away rename to notification_paces`;
    await until('it goes on', () => (task.spans.length > 0 ? true : null));
    task.member.leave();
  });
});
