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
import { NODE_FLAGS } from '../support/node-flags.ts';
import { comeAndGo } from '../support/passing-callers.ts';
import { until } from '../support/poll.ts';
import { startEngine } from '../support/processes.ts';

const COUNTS = { 'clear text': 200_000, TLS: 10_000 } as const;
const PARTS = 6;
/** Until its end the engine grows: code is compiled, heaps and areas of memory find their size. */
const LAST_GROWING_PART = 2;
/** Growth of the heap from then on. An object for each connection would be far more. */
const HEAP_BYTES_MAX = 4_000_000;
/**
 * The same of the whole process, whose allocators grow in steps of 30 MB, but later and less often:
 * two thirds of a kilobyte for each connection in clear text.
 */
const RESIDENT_BYTES_MAX = 64_000_000;
/** The engine says in its log that SIGUSR2 does nothing; here it collects the garbage. */
const COLLECTING = {
  nodeFlags: [
    ...NODE_FLAGS,
    '--expose-gc',
    '--import=data:text/javascript,process.on("SIGUSR2",()=>{gc();gc()})',
  ],
};
/** Connections to the database come and go with its work. */
const DESCRIPTORS_MAX = 10;
const { test } = await onEachFront(t);

t.setTimeout(1_000_000);

for (const over of ['clear text', 'TLS'] as const) {
  test(`${COUNTS[over]} connections in ${over}`, async (t, { kind }) => {
    const { dataDir, environment } = await enginePlace(t);
    const more = over === 'TLS' ? (await CertificateOnDisk.make(t)).settings : {};
    // So few areas of memory as `npm start` sets.
    const memory = { MALLOC_ARENA_MAX: '2', WORKERS: '1' };
    const settings = { ...environment, ...more, ...memory, HTTP_FRONT: kind };
    const engine = await startEngine(t, dataDir, settings, COLLECTING);
    const { baseUrl } = engine;
    const visits = { port: Number(new URL(baseUrl).port), over, count: COUNTS[over] / PARTS };
    const parts: Reading[] = [];
    for (let part = 0; part < PARTS; part += 1) {
      await comeAndGo(visits);
      await until('all but the one that asks have left', async () =>
        (await readEngine(baseUrl)).connections === 1 ? true : null,
      );
      engine.child.kill('SIGUSR2');
      await until('the garbage is collected', () =>
        engine.output().split('"signal":"SIGUSR2"').length === part + 2 ? true : null,
      );
      const reading = await readEngine(baseUrl);
      t.comment(`part ${part}: ${JSON.stringify(reading)}`);
      parts.push(reading);
    }
    const growth = (name: keyof Reading): number =>
      (parts.at(-1)?.[name] ?? Number.NaN) - (parts[LAST_GROWING_PART]?.[name] ?? Number.NaN);
    t.ok(growth('descriptors') <= DESCRIPTORS_MAX, `${growth('descriptors')} descriptors more`);
    t.ok(growth('heapBytes') < HEAP_BYTES_MAX, `${growth('heapBytes')} bytes of heap more`);
    t.ok(growth('residentBytes') < RESIDENT_BYTES_MAX, `${growth('residentBytes')} bytes more`);
    t.equal(await engine.end('SIGTERM'), 0);
  });
}

interface Reading {
  readonly connections: number;
  readonly descriptors: number;
  readonly heapBytes: number;
  readonly residentBytes: number;
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
    heapBytes: metric('nodejs_heap_size_used_bytes'),
    residentBytes: metric('process_resident_memory_bytes'),
  };
}
