/**
 * A send to a tag, held against the database: none who is subscribed is missed, no other device
 * gets it, none has it twice.
 */

import type { Test } from 'tap';
import type { Sql } from '../../src/database/sql.ts';
import { deliveries, finalStatus, push, sumCloses } from '../support/client.ts';
import { until } from '../support/poll.ts';
import type { EngineProcess } from '../support/processes.ts';
import type { Scene } from './scene.ts';

export const PLATFORMS = { apns: 3, fcm: 15 } as const;
type Provider = keyof typeof PLATFORMS;
const PROVIDERS: readonly Provider[] = ['apns', 'fcm'];
const LIMIT_MS = 60_000;
export const QUICK_MS = 100;
/** Steps in the middle are done before the waiting sends have their turn. */
const SLOW_MS = 1_000;
/** A send with a rate has few chunks under way, so that some wait even on a slow machine. */
const RATE_PER_SECOND = 500;
/** Enough to look at. */
const NAMED = 5;

export interface ExactSend {
  readonly scene: Scene;
  readonly sql: Sql;
  readonly engine: EngineProcess;
  readonly what: string;
}

/**
 * Does something in the middle, if asked to. Who comes or goes while it is sent may have it or not.
 */
export async function sendsExactly(
  t: Test,
  { scene, sql, engine, what }: ExactSend,
  meanwhile?: () => Promise<void>,
): Promise<void> {
  const { controlUrl } = scene.simulator;
  await fetch(`${controlUrl}/reset`, { method: 'POST' });
  if (meanwhile !== undefined) await answerAfter(controlUrl, SLOW_MS);
  const before = await subscribed(sql, scene);
  const more = meanwhile === undefined ? {} : { ratePerSecond: RATE_PER_SECOND };
  const job = await push(engine.baseUrl, scene.demo, [scene.tagId], { title: 'goal!' }, more);
  if (meanwhile !== undefined) {
    await until('the send has begun', async () => {
      const claimed = await sql`
        select from chunks where notification_id = ${job} and epoch > 0 limit 1`;
      return claimed.length > 0 ? true : null;
    });
    await meanwhile();
    await answerAfter(controlUrl, QUICK_MS);
  }
  const rows = await finalStatus(engine.baseUrl, scene.demo, job, LIMIT_MS);
  const after = await subscribed(sql, scene);
  t.same(new Set(rows.map(({ state }) => state)), new Set(['FINISHED']), `${what}: finished`);
  t.ok(rows.every(sumCloses), `${what}: the sums close`);
  for (const provider of PROVIDERS) {
    const [early, late] = [before[provider], after[provider]];
    const got = await receivers(controlUrl, provider);
    const missed = [...early].filter((token) => late.has(token) && !got.has(token));
    const surplus = [...got].filter((token) => !early.has(token) && !late.has(token));
    t.same(missed.slice(0, NAMED), [], `${what}: none of ${early.size} of ${provider} is missed`);
    t.same(surplus.slice(0, NAMED), [], `${what}: nobody of ${provider} has it who is not meant`);
    const { times } = await deliveries(controlUrl, provider);
    const often = Object.entries(times).filter(([k, tokens]) => Number(k) > 1 && tokens > 0);
    t.same(often, [], `${what}: nobody has it twice`);
  }
}

/** Tokens of the devices that the database has for the scene's tag. */
export async function subscribedTo(
  sql: Sql,
  { demo, tagId }: Scene,
  provider: Provider,
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ token: string }[]>`
    select device_id as token from devices
    where app_id = ${demo.appId} and platform_id = ${PLATFORMS[provider]}
      and tag_ids @> array[${tagId}::int]`;
  return new Set(rows.map(({ token }) => token));
}

const subscribed = async (
  sql: Sql,
  scene: Scene,
): Promise<Readonly<Record<Provider, ReadonlySet<string>>>> => ({
  apns: await subscribedTo(sql, scene, 'apns'),
  fcm: await subscribedTo(sql, scene, 'fcm'),
});

const answerAfter = (controlUrl: string, latencyMs: number): Promise<Response> =>
  fetch(`${controlUrl}/behaviour`, { method: 'PUT', body: JSON.stringify({ latencyMs }) });

async function receivers(controlUrl: string, provider: Provider): Promise<ReadonlySet<string>> {
  const response = await fetch(`${controlUrl}/tokens/${provider}?limit=100000`);
  return new Set((await response.json()) as readonly string[]);
}
