/**
 * A publisher and an app as HTTP clients of an engine, and the simulator's books: what tests and
 * benches speak.
 */

import { until } from './poll.ts';
import type { Demo } from './processes.ts';

export interface StatusRow {
  readonly key: { readonly id: string; readonly platformId: number };
  readonly appId: number;
  readonly state: string;
  readonly totalCount: number;
  readonly successCount: number;
  readonly failedCount: number;
  readonly skippedCount: number;
  readonly expiredCount: number;
  readonly cancelledCount: number;
  readonly failureReasons?: Readonly<Record<string, number>>;
  readonly uncertainCount?: number;
  readonly heldDeletionCount?: number;
  readonly simulated?: boolean;
}

const FINAL_STATES = new Set(['FINISHED', 'FAILED', 'CANCELLED']);

/** POSTs JSON with a bearer token. */
export const post = (url: string, token: string, body: unknown): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });

/** Submits a push to tags; resolves with the job id. */
export async function push(
  baseUrl: string,
  demo: Demo,
  tagIds: readonly number[],
  payload: unknown = { title: 'goal!' },
  more: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const response = await post(`${baseUrl}/push-api/push`, demo.superUser.token, {
    tagIds,
    payload,
    ...more,
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`push was answered ${response.status}: ${text}`);
  return text;
}

/** The status rows of a job. */
export async function status(
  baseUrl: string,
  demo: Demo,
  job: string,
): Promise<readonly StatusRow[]> {
  const response = await fetch(`${baseUrl}/push-api/status/${job}`, {
    headers: { authorization: `Bearer ${demo.superUser.token}` },
  });
  if (response.status !== 200) throw new Error(`status was answered ${response.status}`);
  return (await response.json()) as readonly StatusRow[];
}

/** The rows of a job once every one is in a final state. */
export const finalStatus = (
  baseUrl: string,
  demo: Demo,
  job: string,
  limitMs = 60_000,
): Promise<readonly StatusRow[]> =>
  until(
    `job ${job} is final`,
    async () => {
      const rows = await status(baseUrl, demo, job);
      return rows.every((row) => FINAL_STATES.has(row.state)) ? rows : null;
    },
    limitMs,
  );

/** Whether every device of a row ended in exactly one outcome. */
export const sumCloses = (row: StatusRow): boolean =>
  row.totalCount ===
  row.successCount + row.failedCount + row.skippedCount + row.expiredCount + row.cancelledCount;

/** How many tokens got exactly k accepted notifications, by k. */
export async function deliveries(
  controlUrl: string,
  provider: 'apns' | 'fcm',
): Promise<{ readonly tokens: number; readonly times: Readonly<Record<string, number>> }> {
  const response = await fetch(`${controlUrl}/counts/${provider}`);
  return (await response.json()) as {
    readonly tokens: number;
    readonly times: Readonly<Record<string, number>>;
  };
}

/** All accepted deliveries of a provider, repeats counted. */
export async function accepted(controlUrl: string, provider: 'apns' | 'fcm'): Promise<number> {
  const { times } = await deliveries(controlUrl, provider);
  return Object.entries(times).reduce((sum, [times, tokens]) => sum + Number(times) * tokens, 0);
}
