/** One run does a part of a job, and the next one goes on after it. */

import t from 'tap';
import type { SqlPool } from '../../src/database/sql.ts';
import type { Turns, UpkeepWork } from '../../src/database/upkeep-job.ts';
import { byAge, inOrder, inTurn, runUpkeepJob } from '../../src/database/upkeep-job.ts';

/** None of these jobs asks it. */
const NO_SQL: SqlPool = Object.create(null);

const runOnce = (run: UpkeepWork, transactionsMax: number, signal?: AbortSignal) =>
  runUpkeepJob(
    { name: 'test', transactionsMax, run },
    { sql: NO_SQL, nowMs: 1_000, ...(signal === undefined ? {} : { signal }) },
  );

t.test('rows go by their age, batch by batch, as many as the budget has', async (t) => {
  let rows = 25;
  const asked = new Set<number>();
  const work = byAge({
    keptMs: 300,
    batchMax: 10,
    delete: (_sql, beforeMs, limit) => {
      asked.add(beforeMs);
      const deleted = Math.min(rows, limit);
      rows -= deleted;
      return Promise.resolve(deleted);
    },
  });
  await runOnce(work, 2);
  t.equal(rows, 5);
  await runOnce(work, 2);
  t.equal(rows, 0);
  t.same([...asked], [700]);
});

/** Owners 1 to 4, each with so many pieces to do; `run` answers whose pieces were done. */
function makeTurns(pieces: Record<number, number>, options: Partial<Turns<number, number>> = {}) {
  const served: number[] = [];
  const work = inTurn<number>({
    start: 0,
    ownersMax: 3,
    unfinished: 'first',
    next: (_run, after, limit) =>
      Promise.resolve([1, 2, 3, 4].filter((id) => id > after).slice(0, limit)),
    serve({ budget }, id) {
      while ((pieces[id] ?? 0) > 0) {
        if (!budget.take()) return Promise.resolve(false);
        served.push(id);
        pieces[id] = (pieces[id] ?? 0) - 1;
      }
      return Promise.resolve(true);
    },
    ...options,
  });
  const run = async (transactionsMax: number): Promise<readonly number[]> => {
    await runOnce(work, transactionsMax);
    return served.splice(0);
  };
  return { work, run };
}

t.test('owners take turns, over several runs, and then again', async (t) => {
  const pieces = { 1: 2, 2: 1, 3: 1, 4: 1 };
  const { run } = makeTurns(pieces);
  t.same(await run(10), [1, 1, 2, 3], 'three in a run');
  pieces[1] = 1;
  t.same(await run(10), [4]);
  t.same(await run(10), [1], 'it begins again');
});

t.test('an owner that the budget does not suffice for is the first of the next run', async (t) => {
  const { run } = makeTurns({ 1: 1, 2: 4, 3: 1 });
  t.same(await run(2), [1, 2]);
  t.same(await run(2), [2, 2]);
  t.same(await run(2), [2, 3]);
});

t.test('or the last, after all others', async (t) => {
  const { run } = makeTurns({ 1: 3, 2: 3, 3: 3, 4: 1 }, { unfinished: 'last' });
  t.same(await run(2), [1, 1]);
  t.same(await run(2), [2, 2]);
  t.same(await run(5), [3, 3, 3, 4]);
  t.same(await run(5), [1, 2], 'what was left of them');
});

t.test('an owner that fails does not keep the others waiting', async (t) => {
  for (const unfinished of ['first', 'last'] as const) {
    const served: number[] = [];
    const { work } = makeTurns(
      {},
      {
        unfinished,
        serve: (_run, id) => {
          if (id === 2) return Promise.reject(new Error('cannot be served'));
          served.push(id);
          return Promise.resolve(true);
        },
      },
    );
    await t.rejects(runOnce(work, 10), /cannot be served/);
    await runOnce(work, 10);
    t.same(served, [1, 3, 4], unfinished);
  }
});

t.test('works share a budget, one after the other', async (t) => {
  const done: string[] = [];
  const takes =
    (name: string, count: number): UpkeepWork =>
    ({ budget }) =>
      budget.exhaust(() => {
        done.push(name);
        return Promise.resolve(done.filter((one) => one === name).length < count);
      });
  await runOnce(inOrder(takes('a', 2), takes('b', 5), takes('c', 1)), 4);
  t.same(done, ['a', 'a', 'b', 'b']);
});

t.test('a process that stops takes no new transaction', async (t) => {
  const stopping = new AbortController();
  let done = 0;
  const work: UpkeepWork = ({ budget }) =>
    budget.exhaust(() => {
      done += 1;
      if (done === 2) stopping.abort();
      return Promise.resolve(true);
    });
  await runOnce(work, 10, stopping.signal);
  t.equal(done, 2);
});
