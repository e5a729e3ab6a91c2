/** A client with caps, a fan-out and the simulator: from the push to whom it reached. */

import type { Test } from 'tap';
import type { Store } from '../../src/database/store.ts';
import { deliveries } from './client.ts';
import type { JobsApi } from './jobs-api.ts';
import { startJobsApi } from './jobs-api.ts';
import { until } from './poll.ts';
import { seedDevices } from './seed.ts';
import { fanOutFor } from './sending.ts';
import { behave, freshSimulator } from './simulator.ts';

export const IOS = 3;
const FINAL = new Set(['FINISHED', 'FAILED', 'CANCELLED']);
export const cappedAt = (max: number, more: object = {}) => [
  { name: 'news', default: true, caps: [{ max, per: '24h', ...more }] },
  { name: 'breaking' },
];

export const ended = (api: JobsApi, id: string) =>
  until(
    `${id} has ended`,
    async () => {
      const { body } = await api.call('GET', `/${id}`);
      return FINAL.has(body.state) && body.finishedAt !== undefined ? body : null;
    },
    60_000,
  );

const isBalanced = (job: Record<string, number>): boolean =>
  job['totalCount'] ===
  ['success', 'failed', 'skipped', 'expired', 'cancelled', 'withheld'].reduce(
    (sum, name) => sum + (job[`${name}Count`] ?? 0),
    0,
  );

/** A client with caps and so many iPhones; `send` pushes and waits for the end. */
export async function startCapped(
  t: Test,
  store: Store,
  slug: string,
  { categories, devices }: { readonly categories: readonly object[]; readonly devices: number },
) {
  const simulator = await freshSimulator();
  await behave(simulator, {});
  const fanOut = await fanOutFor(t, store, simulator);
  const api = await startJobsApi(t, store, slug, { accept: fanOut.accept });
  const { appId, tagId } = api.tenant;
  const seed = (count: number) =>
    seedDevices(store.sql, { appId, platformId: IOS, tagIds: [tagId], count });
  await seed(devices);
  const set = await api.call('PUT', `/push-admin-api/v3/${slug}/policies`, { categories });
  if (set.status !== 200) throw new Error(JSON.stringify(set.body));
  const send = async (more: object = {}) => {
    const job = await ended(api, await api.push({ ...more }));
    t.ok(isBalanced(job), JSON.stringify(job));
    return job;
  };
  return {
    api,
    appId,
    tagId,
    fanOut,
    send,
    seed,
    /** The simulator's behaviour from now on; it keeps its books. */
    change: (behaviour: object) =>
      fetch(`${simulator.controlUrl}/behaviour`, {
        method: 'PUT',
        body: JSON.stringify(behaviour),
      }),
    /** How many devices got how many messages. */
    timesOf: async () => (await deliveries(simulator.controlUrl, 'apns')).times,
  };
}
