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
/** Connections to the database come and go with its work. */
const DESCRIPTORS_MAX = 10;
const { test } = await onEachFront(t);

t.setTimeout(1_000_000);

for (const over of ['clear text', 'TLS'] as const) {
  test(`${COUNTS[over]} connections in ${over}`, async (t, { kind }) => {
    const { dataDir, environment } = await enginePlace(t);
    const more = over === 'TLS' ? (await CertificateOnDisk.make(t)).settings : {};
    const settings = { ...environment, ...more, HTTP_FRONT: kind, WORKERS: '1' };
    const { baseUrl, end } = await startEngine(t, dataDir, settings);
    const visits = { port: Number(new URL(baseUrl).port), over, count: COUNTS[over] / PARTS };
    const parts: Reading[] = [];
    for (let part = 0; part < PARTS; part += 1) {
      await comeAndGo(visits);
      const reading = await until('all but the one that asks have left', async () => {
        const seen = await readEngine(baseUrl);
        return seen.connections === 1 ? seen : null;
      });
      t.comment(`part ${part}: ${JSON.stringify(reading)}`);
      parts.push(reading);
    }
    const growth = (name: 'bytes' | 'descriptors'): number =>
      (parts.at(-1)?.[name] ?? Number.NaN) - (parts[0]?.[name] ?? Number.NaN);
    t.ok(growth('descriptors') <= DESCRIPTORS_MAX, `${growth('descriptors')} descriptors more`);
    t.ok(growth('bytes') < GROWTH_BYTES_MAX, `${growth('bytes')} bytes more`);
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
