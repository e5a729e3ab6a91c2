/** Jobs of which devices show the message, and what they show after a correction or retraction. */

import type { Test } from 'tap';
import type { Shown } from '../../packages/simulator/src/record/screens.ts';
import type { Store } from '../../src/database/store.ts';
import { GROUP_DEVICES } from '../../src/domain/device.ts';
import type { FanOut } from '../../src/push/fan-out.ts';
import type { JobsApi } from './jobs-api.ts';
import { startJobsApi } from './jobs-api.ts';
import { until } from './poll.ts';
import { seedDevices } from './seed.ts';
import { fanOutFor } from './sending.ts';
import { behave, freshSimulator } from './simulator.ts';

export const IOS = 3;
export const ANDROID = 15;
const NAMES = { [IOS]: 'apns', [ANDROID]: 'fcm' } as const;
/** In one group, each in a group of its own, and on Android. */
const TOGETHER = 60;
const APART = 12;
const ANDROIDS = 20;
export const DEVICES = TOGETHER + APART + ANDROIDS;

export const simulator = await freshSimulator();

export interface Screen {
  readonly token: string;
  readonly platformId: 3 | 15;
  readonly shown: readonly Shown[];
  /** Messages that its provider has accepted for it. */
  readonly accepted: number;
}

export interface CorrectionScene {
  readonly api: JobsApi;
  readonly appId: number;
  readonly fanOut: FanOut;
  /** The screens of all devices that there are, or were at the first look. */
  screens(): Promise<readonly Screen[]>;
}

export async function startScene(
  t: Test,
  store: Store,
  slug: string,
  { behaviour = {}, leaseMs = 30_000, replaceableDefault = true } = {},
): Promise<CorrectionScene> {
  await behave(simulator, { keepsShown: true, ...behaviour });
  const fanOut = await fanOutFor(t, store, simulator, { leaseMs, replaceableDefault });
  const api = await startJobsApi(t, store, slug, { accept: fanOut.accept });
  const { appId, tagId } = api.tenant;
  const { sql } = store;
  const tagIds = [tagId];
  await seedDevices(sql, { appId, platformId: IOS, tagIds, count: TOGETHER });
  await seedDevices(sql, { appId, platformId: IOS, tagIds, count: APART, step: GROUP_DEVICES });
  await seedDevices(sql, { appId, platformId: ANDROID, tagIds, count: ANDROIDS });
  const devices = await sql<{ token: string; platformId: 3 | 15 }[]>`
    select device_id as token, platform_id as "platformId" from devices where app_id = ${appId}`;
  const screens = () =>
    Promise.all(
      devices.map(async ({ token, platformId }) => {
        const [shown, received] = await Promise.all(
          ['shown', 'received'].map(async (what) => {
            const url = `${simulator.controlUrl}/${what}/${NAMES[platformId]}/${token}`;
            return (await fetch(url)).json();
          }),
        );
        const { accepted = 0 } = received as { readonly accepted?: number };
        return { token, platformId, shown: shown as readonly Shown[], accepted };
      }),
    );
  return { api, appId, fanOut, screens };
}

const FINAL = new Set(['FINISHED', 'FAILED', 'CANCELLED']);

/** Resolves with the job when it has ended. */
export const ended = (api: JobsApi, id: string) =>
  until(
    `${id} has ended`,
    async () => {
      const { body } = await api.call('GET', `/${id}`);
      return FINAL.has(body.state) && body.finishedAt !== undefined ? body : null;
    },
    60_000,
  );

/** Resolves when so many devices of the job have their outcome, and it is still under way. */
export const halfSent = (api: JobsApi, id: string, devices: number) =>
  until(
    `${id} has reached ${devices}`,
    async () => {
      const { body } = await api.call('GET', `/${id}`);
      return body.successCount >= devices ? body : null;
    },
    60_000,
  );

/** Resolves with the job when its first stage is over, and it is recorded who has it. */
export const staged = (api: JobsApi, id: string) =>
  until(
    `${id} pauses after its stage`,
    async () => {
      const { body } = await api.call('GET', `/${id}`);
      return body.state === 'PAUSED' && body.reach?.devices === body.successCount ? body : null;
    },
    60_000,
  );

export const isBalanced = (job: Record<string, number>): boolean =>
  job['totalCount'] ===
  ['success', 'failed', 'skipped', 'expired', 'cancelled'].reduce(
    (sum, name) => sum + (job[`${name}Count`] ?? 0),
    0,
  );
