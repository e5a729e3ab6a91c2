/**
 * One push, from its POST until every device is accounted for: how fast, and what it cost the
 * engine's process.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { finalStatus, post, push, sumCloses } from '../../../test/support/client.ts';
import type { Demo, EngineProcess } from '../../../test/support/processes.ts';
import { cpuMicros, processMemoryMb, residentMb } from '../../processes.ts';
import type { FanOutGrounds } from './population.ts';

export const NEWS = {
  title: 'Goal!',
  message: 'Ninety minutes and four more: the visitors turned it around, 2:1.',
};

const LIMIT_MS = 120_000;
/** Asked of the database, so that asking costs the engine nothing. */
const LOOK_EVERY_MS = 20;

export interface Sent {
  /** From the POST until the ledger has closed. */
  readonly devicesPerSecond: number;
  /** From the POST until the first and the last device was handed to the connection. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** User and system time of the whole process for each device, ledger and main thread included. */
  readonly cpuMicros: number;
}

/** Sends to a tag, or to an expression, of so many devices; throws unless each of them has it. */
export async function send(
  { sql, demo }: FanOutGrounds,
  { baseUrl }: EngineProcess,
  audience: number | string,
  devices: number,
): Promise<Sent> {
  const cpuBefore = await cpuMicros(baseUrl);
  const postedAtMs = Date.now();
  const job =
    typeof audience === 'number'
      ? await push(baseUrl, demo, [audience], NEWS)
      : await pushTo(baseUrl, demo, audience);
  const { firstAtMs, lastAtMs, finishedAtMs } = await finished(sql, job);
  const cpu = (await cpuMicros(baseUrl)) - cpuBefore;
  const rows = await finalStatus(baseUrl, demo, job);
  const delivered = rows.reduce((sum, row) => sum + row.successCount, 0);
  if (delivered !== devices || !rows.every(sumCloses))
    throw new Error(`the sums do not close: ${JSON.stringify(rows)}`);
  return {
    devicesPerSecond: (devices / (finishedAtMs - postedAtMs)) * 1_000,
    firstMs: firstAtMs - postedAtMs,
    lastMs: lastAtMs - postedAtMs,
    cpuMicros: cpu / devices,
  };
}

/** Submits a push to an expression; answers the job's id. */
async function pushTo(
  baseUrl: string,
  { clientId, superUser }: Demo,
  audience: string,
): Promise<string> {
  const url = `${baseUrl}/push-api/v3/${clientId}/notifications`;
  const answer = await post(url, superUser.token, { audience, payload: NEWS });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${audience}: ${answer.status} ${text}`);
  return (JSON.parse(text) as { readonly id: string }).id;
}

interface Times {
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  readonly finishedAtMs: number;
}

/** The database's clock is this machine's. */
async function finished(sql: FanOutGrounds['sql'], job: string): Promise<Times> {
  const limitMs = performance.now() + LIMIT_MS;
  while (performance.now() < limitMs) {
    const [times] = await sql<Times[]>`
      select extract(epoch from first_send_at)::float8 * 1000 as "firstAtMs",
        extract(epoch from last_send_at)::float8 * 1000 as "lastAtMs",
        extract(epoch from finished_at)::float8 * 1000 as "finishedAtMs"
      from notifications where id = ${job} and finished_at is not null`;
    if (times !== undefined) return times;
    await sleep(LOOK_EVERY_MS);
  }
  throw new Error(`not finished within ${LIMIT_MS} ms`);
}

/**
 * The most resident memory that the process ever had, in MiB; where there is no /proc what it has
 * now.
 */
export async function peakMb({ child, baseUrl }: EngineProcess): Promise<number> {
  const peak = processMemoryMb(child.pid ?? 0, 'VmHWM');
  return Number.isNaN(peak) ? await residentMb(baseUrl) : peak;
}
