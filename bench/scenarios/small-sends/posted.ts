/** Sends that are posted one after the other, from the first POST until the last outcome. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { SqlPool } from '../../../src/database/sql.ts';
import type { Costs, Metered } from './costs.ts';
import { costsOfEach, costsSoFar } from './costs.ts';
import type { PushTarget } from './loads.ts';
import { postAll } from './loads.ts';

export const CONNECTIONS = 64;
const LIMIT_MS = 300_000;

/** Counts the notifications of an engine that have no outcome yet. */
export const openOf = (sql: SqlPool) => async (): Promise<number> => {
  const [row] = await sql<{ open: number }[]>`
    select count(*)::integer as open from notifications where finished_at is null`;
  return row?.open ?? 0;
};

type Rate = Costs & { readonly perSecond: number };

/** From the first POST until the last has its outcome. */
export async function measurePosted(
  metered: Metered,
  target: PushTarget,
  count: number,
  open: () => Promise<number>,
): Promise<Rate> {
  const before = await costsSoFar(metered);
  const startedMs = performance.now();
  await postAll(target, count, CONNECTIONS);
  await untilNone(open);
  const seconds = (performance.now() - startedMs) / 1_000;
  return { perSecond: count / seconds, ...costsOfEach(before, await costsSoFar(metered), count) };
}

/**
 * Asked seldom while there are many: asking costs the database something. Answers how many are
 * left, `enough` or fewer.
 */
export async function untilNone(open: () => Promise<number>, enough = 0): Promise<number> {
  const limitMs = performance.now() + LIMIT_MS;
  for (;;) {
    const left = await open();
    if (left <= enough) return left;
    if (performance.now() > limitMs) throw new Error(`${left} sends have no outcome`);
    await sleep(Math.min(1_000, 20 + left / 20));
  }
}
