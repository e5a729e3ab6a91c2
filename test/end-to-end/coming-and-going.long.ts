/**
 * Connections that come and go by the hundred thousand leave no handle in an engine, and its memory
 * stays level. On each front, in clear text and under TLS.
 */

import { once } from 'node:events';
import { request } from 'node:http';
import { request as requestTls } from 'node:https';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { CertificateOnDisk } from '../support/certificate-on-disk.ts';
import { enginePlace } from '../support/engine-place.ts';
import { onEachFront } from '../support/fronts.ts';
import { comeAndGo } from '../support/passing-callers.ts';
import { until } from '../support/poll.ts';
import { startEngine } from '../support/processes.ts';

const COUNTS = { 'clear text': 100_000, TLS: 20_000 } as const;
/** Memory and caches grow in the first of them. */
const PARTS = 5;
/** Beyond the first part: what a collector leaves lying, and less than 300 bytes a connection. */
const GROWTH_BYTES_MAX = 20_000_000;
const { test } = await onEachFront(t);

t.setTimeout(1_000_000);

for (const over of ['clear text', 'TLS'] as const) {
  test(`${COUNTS[over]} connections in ${over}`, async (t, { kind }) => {
    const { dataDir, environment } = await enginePlace(t);
    const more = over === 'TLS' ? (await CertificateOnDisk.make(t)).settings : {};
    const settings = { ...environment, ...more, HTTP_FRONT: kind, WORKERS: '1' };
    const { baseUrl, end } = await startEngine(t, dataDir, settings);
    const visits = { port: Number(new URL(baseUrl).port), over, count: COUNTS[over] / PARTS };
    const before = await readEngine(baseUrl);
    const memory: number[] = [];
    for (let part = 0; part < PARTS; part += 1) {
      await comeAndGo(visits);
      const { connections, descriptors, bytes } = await until('all have left', async () => {
        const seen = await readEngine(baseUrl);
        return seen.connections === 1 ? seen : null;
      });
      t.equal(connections, 1, 'the one that asks');
      t.ok(descriptors <= before.descriptors, `${descriptors} descriptors are open`);
      memory.push(bytes);
    }
    t.comment(`memory after each part, in MB: ${memory.map((bytes) => Math.round(bytes / 1e6))}`);
    const growth = (memory.at(-1) ?? 0) - (memory[0] ?? 0);
    t.ok(growth < GROWTH_BYTES_MAX, `it grew by ${growth} bytes`);
    t.equal(await end('SIGTERM'), 0);
  });
}

interface Reading {
  readonly connections: number;
  readonly descriptors: number;
  /** Resident memory. */
  readonly bytes: number;
}

async function readEngine(baseUrl: string): Promise<Reading> {
  const ask = baseUrl.startsWith('https') ? requestTls : request;
  const call = ask(`${baseUrl}/metrics`, { agent: false, rejectUnauthorized: false }).end();
  const [answer] = await once(call, 'response');
  const metrics = await text(answer);
  const metric = (name: string): number =>
    Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1]);
  return {
    connections: metric('tagcast_http_connections'),
    descriptors: metric('process_open_fds'),
    bytes: metric('process_resident_memory_bytes'),
  };
}
