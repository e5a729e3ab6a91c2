/**
 * A publisher and an app as HTTP clients of an engine, and the simulator's books: what tests and
 * benches speak.
 */

import { TagcastClient } from '../../packages/client/src/client.ts';
import type { Notification, PushRequest, StatusRow } from '../../packages/client/src/openapi.ts';
import { until } from './poll.ts';
import type { Demo } from './processes.ts';

export type { StatusRow } from '../../packages/client/src/openapi.ts';

const FINAL_STATES = new Set(['FINISHED', 'FAILED', 'CANCELLED']);

/** POSTs JSON with a bearer token. */
export const post = (url: string, token: string, body: unknown): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });

/** A test asks for a refusal itself, so none is tried again. */
const ONCE = { attemptsMax: 1 };

/** The publisher of the demo client. */
const publisher = (baseUrl: string, { superUser, clientId }: Demo): TagcastClient =>
  new TagcastClient({ baseUrl, token: superUser.token, client: clientId, retry: ONCE });

/** Its app, on a device. */
export const appOf = ({ baseUrl, apiUser }: Demo): TagcastClient =>
  new TagcastClient({ baseUrl, token: apiUser.token, retry: ONCE });

export type PushPayload = PushRequest['payload'];

/** Submits a push to tags; resolves with the job id. */
export async function push(
  baseUrl: string,
  demo: Demo,
  tagIds: readonly number[],
  payload: PushPayload = { title: 'goal!' },
  more: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const { body } = await publisher(baseUrl, demo).request('POST', '/push-api/push', {
    body: { tagIds, payload, ...more },
  });
  if (!('id' in body)) throw new Error('A dry run has no job.');
  return body.id;
}

/** The status rows of a job. */
export async function status(
  baseUrl: string,
  demo: Demo,
  job: string,
): Promise<readonly StatusRow[]> {
  const path = { id: job };
  return (await publisher(baseUrl, demo).request('GET', '/push-api/status/{id}', { path })).body;
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

/** The states of a job, until it has ended. */
export async function hear(
  baseUrl: string,
  demo: Demo,
  job: string,
): Promise<readonly Notification[]> {
  const heard: Notification[] = [];
  const events = '/push-api/v3/{client}/notifications/{id}/events';
  for await (const told of publisher(baseUrl, demo).events(events, { path: { id: job } }))
    heard.push(told);
  return heard;
}

/** Whether every device of a row ended in exactly one outcome. */
export const sumCloses = (row: StatusRow): boolean =>
  row.totalCount ===
  row.successCount +
    row.failedCount +
    row.skippedCount +
    row.expiredCount +
    row.cancelledCount +
    (row.withheldCount ?? 0);

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

/** Waits until an engine is ready: on a busy machine a probe of its stores may be late for once. */
export const untilReady = (baseUrl: string): Promise<Response> =>
  until(`${baseUrl} is ready`, async () => {
    const answer = await fetch(`${baseUrl}/readyz`);
    return answer.status === 200 ? answer : null;
  });

/** All accepted deliveries of a provider, repeats counted. */
export async function accepted(controlUrl: string, provider: 'apns' | 'fcm'): Promise<number> {
  const { times } = await deliveries(controlUrl, provider);
  return Object.entries(times).reduce((sum, [times, tokens]) => sum + Number(times) * tokens, 0);
}
