/** Two nodes are two desks on one database. */

import { pino } from 'pino';
import t from 'tap';
import type { Sql } from '../../../src/database/sql.ts';
import type { QuotaMember } from '../../../src/push/dispatch/quota-leaser.ts';
import { QuotaLeaser } from '../../../src/push/dispatch/quota-leaser.ts';
import type { QuotaAnswer } from '../../../src/push/protocol/permits.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { DEFAULT_ORIGINS } from '../../support/default-origins.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { until } from '../../support/poll.ts';
import { apnsCredential, fcmCredential } from '../../support/provider-credentials.ts';

const fcm = fcmCredential();
const log = pino({ level: 'silent' });

const leaserOf = (sql: Sql, fcmPerMinute: number) =>
  new QuotaLeaser({
    sql,
    clock: systemClock,
    log,
    origins: { ...DEFAULT_ORIGINS, fcmPerMinute },
  });

/** A task that takes all that it is given, and counts. */
function joined(leaser: QuotaLeaser) {
  const answers: QuotaAnswer[] = [];
  const member = leaser.join(fcm, (answer) => answers.push(answer));
  if (member === null) throw new Error('it should be limited');
  return {
    member: member as QuotaMember,
    answers,
    granted: () =>
      answers.reduce((sum, answer) => sum + (answer.kind === 'granted' ? answer.permits : 0), 0),
  };
}

const storedPermits = async (sql: Sql): Promise<number> => {
  const [row] = await sql<{ permits: number }[]>`select permits from provider_quotas`;
  return row?.permits ?? Number.NaN;
};

t.test('who has no quota is not asked', (t) => {
  const noSql = null as unknown as Sql;
  t.equal(
    leaserOf(noSql, 600_000).join(apnsCredential(), () => undefined),
    null,
  );
  t.equal(
    leaserOf(noSql, 0).join(fcm, () => undefined),
    null,
  );
  t.end();
});

t.test('on each store', (t) =>
  onEachStore(t, {
    'the tasks of two nodes together get the burst, and not more': async (t, { sql }) => {
      // 60,000 a minute: a burst of 1,000, then 98 a second at the bottom of the ramp.
      const tasks = [leaserOf(sql, 60_000), leaserOf(sql, 60_000)].flatMap((leaser) => [
        joined(leaser),
        joined(leaser),
      ]);
      const startMs = performance.now();
      for (const { member } of tasks) member.hear({ kind: 'wanted', permits: 1_000 });
      const sum = () => tasks.reduce((total, task) => total + task.granted(), 0);
      await until('all have something', () =>
        tasks.every((task) => task.granted() > 0) ? true : null,
      );
      for (let rounds = 0; rounds < 20; rounds += 1) {
        for (const { member } of tasks) member.hear({ kind: 'wanted', permits: 1_000 });
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      const passedMs = performance.now() - startMs;
      t.ok(sum() <= 1_000 + passedMs, `${sum()} in ${passedMs} ms`);
      for (const { member } of tasks) member.leave();
    },

    'what is not used goes back to the bucket': async (t, { sql }) => {
      const { member, granted } = joined(leaserOf(sql, 60_000));
      member.hear({ kind: 'wanted', permits: 10 });
      await until('permits', () => (granted() === 10 ? true : null));
      t.ok((await storedPermits(sql)) < 1_000);
      member.hear({ kind: 'unused', permits: 10 });
      member.leave();
      await until('all is back', async () => ((await storedPermits(sql)) === 1_000 ? true : null));
    },

    'one 429 stops the project on both nodes, with the time that Google named': async (
      t,
      { sql },
    ) => {
      const [a, b] = [joined(leaserOf(sql, 60_000)), joined(leaserOf(sql, 60_000))];
      const neighbour = joined(leaserOf(sql, 60_000));
      a.member.hear({ kind: 'exceeded', forMs: 60_000 });
      t.same(a.answers, [{ kind: 'wait', forMs: 60_000 }]);
      await until('it is written', async () => {
        const [row] = await sql`select 1 from provider_quotas where paused_until > now()`;
        return row === undefined ? null : true;
      });
      b.member.hear({ kind: 'wanted', permits: 10 });
      const answer = await until('an answer', () => b.answers[0] ?? null);
      t.equal(answer.kind, 'wait');
      t.ok(answer.forMs > 50_000);
      a.member.hear({ kind: 'wanted', permits: 10 });
      t.equal(a.answers.at(-1)?.kind, 'wait', 'without asking the database');
      for (const { member } of [a, b, neighbour]) member.leave();
    },

    'who waits in vain is told to come again': async (t, { sql }) => {
      const { member, answers } = joined(leaserOf(sql, 60));
      member.hear({ kind: 'wanted', permits: 32 });
      await until('the one that there is', () => (answers.length === 1 ? true : null));
      t.match(answers[0], { kind: 'granted', permits: 1 });
      member.hear({ kind: 'wanted', permits: 32 });
      await until('patience ends', () => (answers.length === 2 ? true : null));
      t.match(answers[1], { kind: 'wait' });
      member.leave();
    },

    'without the database they wait, and go on when it is back': async (_t, { sql }) => {
      await sql`alter table provider_quotas rename to away`;
      const { member, answers } = joined(leaserOf(sql, 60_000));
      member.hear({ kind: 'wanted', permits: 10 });
      await until('told to wait', () => (answers[0]?.kind === 'wait' ? true : null));
      await sql`alter table away rename to provider_quotas`;
      await until('permits', () => {
        member.hear({ kind: 'wanted', permits: 10 });
        return answers.some(({ kind }) => kind === 'granted') ? true : null;
      });
      member.leave();
    },
  }),
);
