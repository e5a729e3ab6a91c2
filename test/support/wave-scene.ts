/** Devices in time zones, a push to them, and what the simulator has received. */

import type { Test } from 'tap';
import type { SqlPool } from '../../src/database/sql.ts';
import type { Store } from '../../src/database/store.ts';
import type { JobsApi } from './jobs-api.ts';
import { startJobsApi } from './jobs-api.ts';
import { until } from './poll.ts';
import { seedDevices } from './seed.ts';
import { fanOutFor } from './sending.ts';
import { behave, freshSimulator } from './simulator.ts';
import { bring, planWaves, setZone } from './waves.ts';

export const IOS = 3;
export const DAY_MS = 86_400_000;
export const simulator = await freshSimulator();

/** 08:00 on a day after tomorrow, so that it is ahead everywhere. */
export const LOCAL = `${new Date(Date.now() + 3 * DAY_MS).toISOString().slice(0, 10)}T08:00`;
export interface Wave {
  readonly at: number;
  readonly zones: readonly string[];
  readonly state: string;
  readonly withoutTimezone?: true;
  readonly counts: { readonly totalCount: number };
}

/** A client with devices, whose tokens are these, in zones. */
export async function startScene(
  t: Test,
  store: Store,
  slug: string,
  zones: readonly (string | null)[],
) {
  await behave(simulator, {});
  const fanOut = await fanOutFor(t, store, simulator);
  const api = await startJobsApi(t, store, slug, { accept: fanOut.accept });
  const { sql } = store;
  const { appId, clientId, tagId } = api.tenant;
  const seed = (count: number) =>
    seedDevices(sql, { appId, platformId: IOS, tagIds: [tagId], count });
  await seed(zones.length);
  const tokens = await tokensOf(sql, appId);
  for (const [at, zone] of zones.entries()) await setZone(sql, clientId, tokens[at] ?? '', zone);
  const move = (token: string | undefined, zone: string | null) =>
    setZone(sql, clientId, token ?? '', zone);
  const received = async (): Promise<readonly number[]> => {
    const counts: number[] = [];
    for (const token of await tokensOf(sql, appId)) counts.push(await acceptedOf(token));
    return counts;
  };
  return { api, appId, sql, fanOut, seed, tokens, move, received };
}

/** The tokens of an app, in the order of their registration. */
export const tokensOf = async (sql: SqlPool, appId: number): Promise<readonly string[]> =>
  (
    await sql<{ token: string }[]>`
      select device_id as token from devices where app_id = ${appId} order by ordinal`
  ).map(({ token }) => token);

/** How often the simulator has accepted a message for a token. */
export async function acceptedOf(token: string): Promise<number> {
  const answer = await fetch(`${simulator.controlUrl}/received/apns/${token}`);
  return ((await answer.json()) as { readonly accepted?: number }).accepted ?? 0;
}

/** A job as its publisher sees it. */
export const jobOf = async (api: JobsApi, id: string) => (await api.call('GET', `/${id}`)).body;

/** Lets the n-th of the waves that are sent come, and waits for its end. Answers the job then. */
export async function pass(api: JobsApi, sql: SqlPool, id: string, n: number) {
  const sent = (waves: readonly Wave[]) => waves.filter(({ state }) => state !== 'SKIPPED');
  const { waves } = await jobOf(api, id);
  await bring(sql, id, sent(waves)[n]?.at ?? 0);
  await until(
    `wave ${n} is done`,
    async () => {
      await planWaves(sql);
      const job = await jobOf(api, id);
      return sent(job.waves)[n]?.state === 'FINISHED' ? true : null;
    },
    60_000,
  );
  // Its counts were read before its waves.
  return await jobOf(api, id);
}

/** Waits for the end of a job. Answers it then. */
export const ended = (api: JobsApi, id: string) =>
  until(
    `${id} has ended`,
    async () => {
      const job = await jobOf(api, id);
      return job.finishedAt === undefined ? null : job;
    },
    60_000,
  );

/** Whether the counts of a job fit its total. */
export const isBalanced = (job: Record<string, number>): boolean =>
  job['totalCount'] ===
  ['success', 'failed', 'skipped', 'expired', 'cancelled'].reduce(
    (sum, name) => sum + (job[`${name}Count`] ?? 0),
    0,
  );
