/** Orders to sends that run: an API over a fan-out, and what it says of a job. */

import type { Test } from 'tap';
import type { Simulator } from '../../packages/simulator/src/simulator.ts';
import type { Store } from '../../src/database/store.ts';
import type { FanOut } from '../../src/push/fan-out.ts';
import type { JobsApi } from './jobs-api.ts';
import { startJobsApi } from './jobs-api.ts';
import { until } from './poll.ts';
import { seedDevices } from './seed.ts';
import type { SendingOptions } from './sending.ts';
import { fanOutFor } from './sending.ts';

/** For the largest audiences, on a machine that is busy. */
export const LIMIT_MS = 120_000;
/** Longer than an order takes to be obeyed, and its provider to answer. */
export const WATCHED_MS = 1_500;
/** A second, and the machine may be busy with other tests. */
export const OBEYED_WITHIN_MS = 3_000;

/** An API over a fan-out, and so many devices. */
export async function setUp(
  t: Test,
  store: Store,
  simulator: Simulator,
  { slug, devices }: { readonly slug: string; readonly devices: number },
  options: SendingOptions = {},
): Promise<{ readonly fanOut: FanOut; readonly api: JobsApi }> {
  const fanOut = await fanOutFor(t, store, simulator, options);
  const { accept, testSends } = fanOut;
  const api = await startJobsApi(t, store, slug, { accept, testSends });
  const { appId, tagId } = api.tenant;
  await seedDevices(store.sql, { appId, platformId: 3, tagIds: [tagId], count: devices });
  await store.sql.unsafe('analyze');
  return { fanOut, api };
}

export const job = async (api: JobsApi, id: string) => (await api.call('GET', `/${id}`)).body;

export const ended = (api: JobsApi, id: string) =>
  until(
    `${id} has ended`,
    async () => {
      const body = await job(api, id);
      return 'finishedAt' in body ? body : null;
    },
    LIMIT_MS,
  );

/** Nothing of it is held by anybody. */
export const atRest = (store: Store, id: string) =>
  until('nothing is under way', async () => {
    const [held] = await store.sql<{ count: number }[]>`
      select (select count(*) from chunks where notification_id = ${id}::uuid and lease_until is not null)
        + (select count(*) from retries where notification_id = ${id}::uuid and lease_until is not null) as count`;
    return held?.count === 0 ? true : null;
  });

export async function order(t: Test, api: JobsApi, id: string, what: string): Promise<void> {
  const { status } = await api.call('POST', `/${id}/${what}`);
  t.equal(status, 200, what);
}
