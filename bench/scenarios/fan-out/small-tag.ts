/**
 * A tag of ten devices among many: from the POST until the last of them has arrived at the sink,
 * which is here in this process and so has the clock of the caller. The engine is warm, and idle
 * before each.
 */

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createCertificate } from '../../../packages/simulator/src/server/certificate.ts';
import { push } from '../../../test/support/client.ts';
import type { Lifetime } from '../../../test/support/lifetime.ts';
import type { EngineProcess } from '../../../test/support/processes.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { percentile } from '../../clients/client.ts';
import type { FanOutGrounds } from './population.ts';
import { DEVICES_FEW } from './population.ts';
import { NEWS } from './send.ts';

const SENDS = 100;
/** Code that runs a few times only is interpreted: so many make it warm. */
const SENDS_FIRST = 100;
const IDLE_MS = 50;
const ARRIVED_WITHIN_MS = 10_000;

export async function measureSmallTag(
  stage: Lifetime,
  grounds: FanOutGrounds,
): Promise<{ readonly p50Ms: number; readonly p95Ms: number }> {
  const sink = await startCountingSink(stage);
  const engine = await grounds.start('redis', sink.environment);
  await bringToRest(grounds);
  const times: number[] = [];
  for (let sent = 0; sent < SENDS_FIRST + SENDS; sent += 1) {
    await sleep(IDLE_MS);
    const startMs = performance.now();
    const arrived = sink.arrivals(DEVICES_FEW);
    await push(engine.baseUrl, grounds.demo, [grounds.tags.few], NEWS);
    const arrivedMs = await arrived;
    if (sent >= SENDS_FIRST) times.push(arrivedMs - startMs);
  }
  await engine.end('SIGTERM');
  times.sort((a, b) => a - b);
  return { p50Ms: percentile(times, 0.5), p95Ms: percentile(times, 0.95) };
}

/**
 * PostgreSQL does at once what it would do some time in the next minutes for the millions before:
 * vacuum what they left behind, and write their pages to disk.
 */
async function bringToRest({ sql }: FanOutGrounds): Promise<void> {
  await sql`vacuum analyze`;
  await sql`checkpoint`;
}

/**
 * From the POST until the first of few devices is sent to, while the engine sends to many; the
 * longest of some.
 */
export async function measureBeside(
  { sql, demo, tags }: FanOutGrounds,
  { baseUrl }: EngineProcess,
  sends: number,
): Promise<number> {
  const times: number[] = [];
  for (let sent = 0; sent < sends; sent += 1) {
    const postedAtMs = Date.now();
    const job = await push(baseUrl, demo, [tags.few], NEWS);
    for (;;) {
      const [row] = await sql<{ firstAtMs: number | null }[]>`
        select extract(epoch from first_send_at)::float8 * 1000 as "firstAtMs" from notifications where id = ${job}`;
      if (row?.firstAtMs != null) {
        times.push(row.firstAtMs - postedAtMs);
        break;
      }
      await sleep(10);
    }
  }
  return Math.max(...times);
}

interface CountingSink {
  readonly environment: Readonly<Record<string, string>>;
  /** The time (`performance.now()`) at which so many more requests have come. */
  arrivals(count: number): Promise<number>;
}

async function startCountingSink(stage: Lifetime): Promise<CountingSink> {
  const { certificatePem, privateKeyPem } = await createCertificate('127.0.0.1');
  let left = 0;
  let resolve: (atMs: number) => void = () => undefined;
  const server = createSecureServer({ cert: certificatePem, key: privateKeyPem });
  server.on('stream', (stream) => {
    stream.respond({ ':status': 200 }, { endStream: true });
    left -= 1;
    if (left === 0) resolve(performance.now());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stage.teardown(() => server.close());
  const caFile = join(temporaryDirectory(stage), 'ca.pem');
  writeFileSync(caFile, certificatePem);
  const { port } = server.address() as AddressInfo;
  return {
    environment: { APNS_ORIGIN: `https://127.0.0.1:${port}`, PROVIDER_CA_FILE: caFile },
    arrivals: (count) => {
      left = count;
      return Promise.race([
        new Promise<number>((arrived) => {
          resolve = arrived;
        }),
        sleep(ARRIVED_WITHIN_MS).then(() => {
          throw new Error(`${left} of ${count} have not arrived`);
        }),
      ]);
    },
  };
}
