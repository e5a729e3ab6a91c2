/** Reads that take long, on a real PostgreSQL: what becomes of them, and of everybody else. */

import t from 'tap';
import { Authenticator } from '../../src/access/authenticate.ts';
import { PatientReads } from '../../src/database/patient-reads.ts';
import { appApiRoutes } from '../../src/devices/routes/routes.ts';
import { Accept } from '../../src/push/accept/accept.ts';
import { pushRoute } from '../../src/push/routes/push.ts';
import { statusRoute } from '../../src/push/routes/status.ts';
import { statsTagRoute } from '../../src/statistics/routes/stats-tag.ts';
import { SqlTagIndex } from '../../src/tag-index/sql/sql-tag-index.ts';
import { addTenant, bearer, secrets, startApi } from '../support/api.ts';
import { makeAppApi } from '../support/app-api.ts';
import { evaluator } from '../support/evaluator.ts';
import { NEVER_AT_ONCE } from '../support/never-at-once.ts';
import { makeTag } from '../support/notifications.ts';
import { onEachStore } from '../support/on-each-store.ts';
import { until } from '../support/poll.ts';
import { SILENT_JOURNAL } from '../support/silent-journal.ts';
import { withPostgresStore } from '../support/store.ts';

t.setTimeout(240_000);

t.test('while counts hang, credentials and registrations go on', async (t) => {
  await withPostgresStore(t, async (t, store) => {
    const { sql } = store;
    const demo = await addTenant(sql, 'demo');
    const other = await addTenant(sql, 'other');
    const third = await addTenant(sql, 'third');
    const fourth = await addTenant(sql, 'fourth');
    const tagId = await makeTag(sql, demo.clientId, {});
    const otherTagId = await makeTag(sql, other.clientId, {});
    const thirdTagId = await makeTag(sql, third.clientId, {});
    const appApi = makeAppApi(store);
    const accept = new Accept({
      replaceableDefault: true,
      atOnce: NEVER_AT_ONCE,
      journal: SILENT_JOURNAL,
      sql,
      patientReads: store.patientReads,
      tagIndex: new SqlTagIndex(sql),
      evaluator,
      isSimulated: () => false,
      onAccepted: () => undefined,
    });
    const { baseUrl } = await startApi(t, new Authenticator(sql, secrets), [
      ...appApiRoutes(appApi),
      pushRoute(accept, sql),
      statusRoute(store.patientReads),
      statsTagRoute(store),
    ]);
    const ask = async (path: string, token: string, body?: unknown) => {
      const response = await fetch(`${baseUrl}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { Authorization: token },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, retryAfter: response.headers.get('retry-after') };
    };
    const dryRun = (token: string, id: number) =>
      ask('/push-api/push', token, { tagIds: [id], payload: { title: 'a' }, dryRun: true });
    const stats = (slug: string, token: string, id: number) =>
      ask(`/push-admin-api/v3/${slug}/stats/tag/${id}`, token);
    const status = (token: string) =>
      ask('/push-api/status/019a0000-0000-7000-8000-000000000000', token);

    t.equal((await dryRun(bearer(demo.superUser), tagId)).status, 200);
    t.equal((await stats('demo', bearer(demo.superUser), tagId)).status, 200);
    t.equal((await status(bearer(demo.superUser))).status, 404);

    // Every count waits for this lock; a registration of no tag, and a credential, do not.
    let unlock = (): void => undefined;
    const unlocked = new Promise<void>((resolve) => {
      unlock = resolve;
    });
    let isLocked = false;
    const holder = sql.begin(async (tx) => {
      await tx`lock table device_group_tags, notifications in access exclusive mode`;
      isLocked = true;
      await unlocked;
    });
    await until('the tables are locked', () => (isLocked ? true : null));
    const startedMs = performance.now();
    const untilWaiting = (count: number) =>
      until(`${count} wait for it`, async () => {
        const [row] = await sql<{ waiting: number }[]>`
          select count(*) as waiting from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`;
        return row?.waiting === count ? true : null;
      });
    const ofOne = [
      dryRun(bearer(demo.superUser), tagId),
      stats('demo', bearer(demo.superUser), tagId),
    ];
    // The last place is for a client that has none.
    await untilWaiting(2);
    const hanging = [
      ...ofOne,
      dryRun(bearer(other.superUser), otherTagId),
      stats('third', bearer(third.superUser), thirdTagId),
    ];
    await untilWaiting(4);
    t.same(await status(bearer(fourth.superUser)), { status: 503, retryAfter: '5' }, 'the fifth');
    const registered = await ask('/push-api/ureg', bearer(demo.apiUser), {
      appId: demo.appId,
      platformId: 3,
      deviceId: 'ab'.repeat(32),
      tagId: [],
    });
    t.equal(registered.status, 200, 'a registration');
    t.equal((await status('Bearer tcs_unknown')).status, 401, 'a credential that is looked up');
    for (const { status, retryAfter } of await Promise.all(hanging)) {
      t.same({ status, retryAfter }, { status: 503, retryAfter: '2' }, 'ended by its time-out');
    }
    t.ok(performance.now() - startedMs > 9_000, 'not before it');
    unlock();
    await holder;
    t.equal((await dryRun(bearer(demo.superUser), tagId)).status, 200, 'afterwards all is well');
  });
});

t.test('a client has half of what is done at a time, and waits in a line', async (t) => {
  const ends: (() => void)[] = [];
  const reads = new PatientReads(
    (work) =>
      new Promise((resolve) => {
        ends.push(() => resolve(work(undefined as never)));
      }),
  );
  const read = (clientId: number) => reads.run(clientId, () => Promise.resolve(clientId));
  const mine = Array.from({ length: 103 }, () => read(1));
  t.equal(ends.length, 2);
  t.same(await mine[102], { kind: 'busy' }, 'a hundred may wait');
  const others = [read(2), read(3), read(4)];
  t.equal(ends.length, 4);
  ends[2]?.();
  t.same(await others[0], { kind: 'done', result: 2 });
  await until('the other client is next', () => (ends.length === 5 ? true : null));
  ends[4]?.();
  t.same(await others[2], { kind: 'done', result: 4 });
  ends[0]?.();
  t.same(await mine[0], { kind: 'done', result: 1 });
  await until('the next of the first client', () => (ends.length === 6 ? true : null));
  t.same(await mine[101], { kind: 'busy' }, 'who has waited too long');
  for (const end of ends) end();
  await Promise.all([...mine, ...others]);
});

t.test('the next read is of the client whose reads took the least time', async (t) => {
  const ends: (() => void)[] = [];
  let nowMs = 0;
  const reads = new PatientReads(
    (work) =>
      new Promise((resolve) => {
        ends.push(() => resolve(work(undefined as never)));
      }),
    () => nowMs,
  );
  const begun: number[] = [];
  const read = (clientId: number) =>
    reads.run(clientId, () => {
      // This `perform` does the work at the end.
      begun.push(clientId);
      return Promise.resolve();
    });
  const slow = [1, 2, 3, 4].map(read);
  nowMs += 9_000;
  for (const end of ends) end();
  await Promise.all(slow);
  const all = [1, 2, 3, 4, 1, 2, 3, 4, 5].map(read);
  ends[4]?.();
  await until('its place is taken', () => (ends.length === 9 ? true : null));
  ends[8]?.();
  await until('who took it has ended', () => (begun.length === 6 ? true : null));
  t.equal(begun.at(-1), 5, 'who came last, and has used nothing');
  for (let index = 5; index < 13; index += 1) {
    await until('it has begun', () => (ends.length > index ? true : null));
    ends[index]?.();
  }
  await Promise.all(all);
});

t.test('the last place is for a client that has none', async (t) => {
  const ends: (() => void)[] = [];
  const reads = new PatientReads(
    (work) =>
      new Promise((resolve) => {
        ends.push(() => resolve(work(undefined as never)));
      }),
  );
  const read = (clientId: number) => reads.run(clientId, () => Promise.resolve(clientId));
  const held = [1, 1, 2, 2].map(read);
  t.equal(ends.length, 3);
  const other = read(3);
  t.equal(ends.length, 4, 'it is let in');
  for (let index = 0; index < 5; index += 1) {
    await until('it has begun', () => (ends.length > index ? true : null));
    ends[index]?.();
  }
  await Promise.all([...held, other]);
});

await onEachStore(t, {
  'reads ask the store': async (t, { patientReads }) => {
    const read = await patientReads.run(1, (sql) => sql`select 1 as one`);
    t.match(read, { kind: 'done', result: [{ one: 1 }] });
    await t.rejects(patientReads.run(1, (sql) => sql`select 1 / 0`));
    t.match(await patientReads.run(1, (sql) => sql`select 2 as two`), { kind: 'done' });
  },
});
