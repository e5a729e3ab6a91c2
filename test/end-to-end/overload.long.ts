/**
 * Ten times what the service can sustain, for a minute: what is accepted is kept, everything else
 * is refused in the way the interface has for it, and afterwards all is as before.
 */

import { randomBytes } from 'node:crypto';
import autocannon from 'autocannon';
import postgres from 'postgres';
import t from 'tap';
import { until } from '../support/poll.ts';
import type { Demo } from '../support/processes.ts';
import { startEngine } from '../support/processes.ts';
import { withPostgres } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/**
 * So few may be under way, and each batch takes so long, that no machine can sustain more than this
 * (Little's law): ten times as much is something that a load generator can do.
 */
const IN_FLIGHT_MAX = 40;
const BATCH_MS = 200;
const SUSTAINABLE_MAX = IN_FLIGHT_MAX / (BATCH_MS / 1_000);
const OVERLOAD = 10;
const OVERLOAD_SECONDS = 60;
const CONNECTIONS = 400;
const DEPTH = /^tagcast_queue_depth\{queue="registrations"\} (\d+)/m;
/**
 * An accepted one waits for the batch under way and its own, 400 ms, and not for a queue: fifty
 * times that on a slow machine.
 */
const ACCEPTED_MS_MAX = 20_000;

interface Answers {
  readonly accepted: readonly string[];
  readonly refused: number;
  /** Whatever is neither. */
  readonly others: readonly string[];
  readonly acceptedMsMax: number;
  readonly errors: number;
}

await withPostgres(t, async (t, url) => {
  const engine = await startEngine(t, temporaryDirectory(t), {
    DATABASE_URL: url,
    SECRET_KEY: 'a secret for this test only, long enough',
    DEMO: '1',
    REGISTRATIONS_IN_FLIGHT_MAX: String(IN_FLIGHT_MAX),
  });
  const sql = postgres(url, { max: 2, onnotice: () => undefined });
  t.teardown(() => sql.end());
  await slowDown(sql);
  const demo = engine.demo();
  const load = (seconds: number, connections: number, perSecond?: number) =>
    register(engine.baseUrl, demo, { seconds, connections, perSecond });

  const sustained = await load(5, IN_FLIGHT_MAX / 2);
  t.same([sustained.refused, sustained.errors, sustained.others], [0, 0, []], 'all are accepted');

  const overload = await load(OVERLOAD_SECONDS, CONNECTIONS, SUSTAINABLE_MAX * OVERLOAD);
  t.comment(
    `sustained ${sustained.accepted.length / 5}/s; in the overload accepted ${overload.accepted.length}, refused ${overload.refused}, slowest accepted ${overload.acceptedMsMax} ms`,
  );
  t.same(overload.others, [], 'every answer is OK, or 503 with Retry-After');
  t.equal(overload.errors, 0, 'every request is answered');
  t.ok(overload.refused > overload.accepted.length, 'most are refused');
  t.ok(overload.accepted.length > IN_FLIGHT_MAX, 'work goes on');
  t.ok(overload.acceptedMsMax < ACCEPTED_MS_MAX, 'what is accepted does not queue');

  // The caller has gone; its request is still being committed, and has its places.
  await until('what was accepted is committed', async () =>
    (await depthOf(engine.baseUrl)) === 0 ? true : null,
  );
  const after = await load(3, IN_FLIGHT_MAX / 2);
  t.same([after.refused, after.errors, after.others], [0, 0, []], 'and all are accepted again');

  const accepted = [...sustained.accepted, ...overload.accepted, ...after.accepted];
  t.equal(await countSubscribed(sql, accepted), accepted.length, 'what was accepted is there');
  t.equal(await engine.end('SIGTERM'), 0);
});

/** Registrations under way. */
async function depthOf(baseUrl: string): Promise<number> {
  const metrics = await (await fetch(`${baseUrl}/metrics`)).text();
  return Number(DEPTH.exec(metrics)?.[1]);
}

/** Makes every batch that changes something take its time. */
async function slowDown(sql: postgres.Sql): Promise<void> {
  await sql
    .unsafe(`
      create function slow() returns trigger language plpgsql as $$
        begin perform pg_sleep(${BATCH_MS / 1_000}); return null; end $$;
      create trigger slow after insert on device_groups for each statement execute function slow()`)
    .simple();
}

async function register(
  baseUrl: string,
  demo: Demo,
  round: {
    readonly seconds: number;
    readonly connections: number;
    readonly perSecond?: number | undefined;
  },
): Promise<Answers> {
  const accepted: string[] = [];
  const others = new Set<string>();
  let refused = 0;
  let acceptedMsMax = 0;
  const result = await autocannon({
    url: `${baseUrl}/push-api/reg`,
    method: 'POST',
    connections: round.connections,
    duration: round.seconds,
    timeout: 60,
    ...(round.perSecond === undefined ? {} : { overallRate: round.perSecond }),
    headers: { authorization: `Bearer ${demo.apiUser.token}`, 'content-type': 'application/json' },
    requests: [
      {
        setupRequest(request, context) {
          const deviceId = randomBytes(32).toString('hex');
          Object.assign(context, { deviceId, sentAtMs: performance.now() });
          const { appId, tagIds } = demo;
          const body = { appId, platformId: 3, tagId: tagIds.slice(0, 3), deviceId };
          return { ...request, body: JSON.stringify(body) };
        },
        onResponse(status, body, context, headers) {
          const { deviceId, sentAtMs } = context as { deviceId: string; sentAtMs: number };
          if (status === 200 && body === 'OK') {
            accepted.push(deviceId);
            acceptedMsMax = Math.max(acceptedMsMax, performance.now() - sentAtMs);
          } else if (status === 503 && Number(retryAfter(headers)) > 0) refused += 1;
          else others.add(`${status} ${body}`);
        },
      },
    ],
  });
  return { accepted, refused, others: [...others], acceptedMsMax, errors: result.errors };
}

/** Headers as they came: names in any case. */
function retryAfter(headers: unknown): string | undefined {
  const entries = Object.entries((headers ?? {}) as Record<string, string>);
  return entries.find(([name]) => name.toLowerCase() === 'retry-after')?.[1];
}

/** Counts those of these devices that have their three tags. */
async function countSubscribed(sql: postgres.Sql, deviceIds: readonly string[]): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from devices
    where device_id = any (${[...deviceIds]}::text[]) and cardinality(tag_ids) = 3`;
  return row?.count ?? 0;
}
