/** Follows the pushes of a load test: how long they took, and the engine's counts. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { TagcastClient } from '../../packages/client/src/client.ts';
import { percentile } from '../clients/client.ts';

export interface Sends {
  readonly pushes: number;
  readonly finished: number;
  readonly devices: number;
  readonly succeeded: number;
  readonly failed: number;
  /** From the acceptance to the first send. Null: none was sent to anybody. */
  readonly firstP50Ms: number | null;
  readonly firstP99Ms: number | null;
  /** From the acceptance to the end. Null: none has ended. */
  readonly endP50Ms: number | null;
  readonly endP99Ms: number | null;
}

/** Sends that have not ended by then are reported as such. */
const PATIENCE_MS = 300_000;
const LOOK_EVERY_MS = 1_000;
const ROWS_OF_PAGE = 1_000;

const UNFINISHED = ['QUEUED', 'RUNNING'] as const;

/** Waits until all with this title have ended, but not for ever. */
export async function followSends(
  client: TagcastClient,
  title: string,
  sinceMs: number,
  progress: (unfinished: number) => void,
): Promise<Sends> {
  const limitMs = Date.now() + PATIENCE_MS;
  for (;;) {
    const unfinished = await countUnfinished(client, title, sinceMs);
    if (unfinished === 0 || Date.now() > limitMs) break;
    progress(unfinished);
    await sleep(LOOK_EVERY_MS);
  }
  return summarise(client, title, sinceMs);
}

const rowsOf = (client: TagcastClient, sinceMs: number, state?: (typeof UNFINISHED)[number]) =>
  client.rows('/push-api/v3/{client}/notifications', {
    query: { from: sinceMs, limit: ROWS_OF_PAGE, ...(state === undefined ? {} : { state }) },
  });

/** At most one page of each state: more are as good as many. */
async function countUnfinished(
  client: TagcastClient,
  title: string,
  sinceMs: number,
): Promise<number> {
  let count = 0;
  for (const state of UNFINISHED) {
    let seen = 0;
    for await (const row of rowsOf(client, sinceMs, state)) {
      if (row.title === title) count += 1;
      seen += 1;
      if (seen === ROWS_OF_PAGE) break;
    }
  }
  return count;
}

async function summarise(client: TagcastClient, title: string, sinceMs: number): Promise<Sends> {
  const firstMs: number[] = [];
  const endMs: number[] = [];
  let [pushes, devices, succeeded, failed] = [0, 0, 0, 0];
  for await (const row of rowsOf(client, sinceMs)) {
    if (row.title !== title) continue;
    pushes += 1;
    devices += row.totalCount;
    succeeded += row.successCount;
    failed += row.failedCount;
    if (row.firstSendAt !== undefined) firstMs.push(row.firstSendAt - row.acceptedAt);
    if (row.finishedAt !== undefined) endMs.push(row.finishedAt - row.acceptedAt);
  }
  const at = (times: number[], share: number): number | null =>
    times.length === 0
      ? null
      : percentile(
          times.sort((a, b) => a - b),
          share,
        );
  return {
    pushes,
    finished: endMs.length,
    devices,
    succeeded,
    failed,
    firstP50Ms: at(firstMs, 0.5),
    firstP99Ms: at(firstMs, 0.99),
    endP50Ms: at(endMs, 0.5),
    endP99Ms: at(endMs, 0.99),
  };
}
