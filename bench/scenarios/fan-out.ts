/** One push to many devices, end to end: from the POST until every device is accounted for, against the simulator. */

import type { TransportName } from '../../src/senders/transport.ts';
import { TRANSPORTS } from '../../src/senders/transport.ts';
import { connect } from '../../src/store/sql.ts';
import { openEmbedded } from '../../src/store/store.ts';
import { finalStatus, push, sumCloses } from '../../test/support/client.ts';
import type { Lifetime } from '../../test/support/lifetime.ts';
import type { Demo } from '../../test/support/processes.ts';
import { startEngine } from '../../test/support/processes.ts';
import { seedDevices } from '../../test/support/seed.ts';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { cpuMicros, residentMb } from '../cpu.ts';
import type { Ratios, Row, Scenario } from '../scenario.ts';
import type { BenchStore } from '../stores.ts';
import { benchStores } from '../stores.ts';

const DEVICES = 200_000;
const PLATFORM_APNS = 3;
const LIMIT_MS = 300_000;

export const fanOut: Scenario = {
  summary: `one push to ${DEVICES.toLocaleString('en')} APNs devices of one tag; the simulator is a thread of the same process, so its CPU is included`,
  async run(stage) {
    const rows: FanOutRow[] = [];
    for (const store of await benchStores(stage)) rows.push(...(await measure(stage, store)));
    return { rows, ratios: ratiosOf(rows) };
  },
};

interface FanOutRow extends Row {
  readonly store: BenchStore['name'];
  readonly transport: TransportName;
  readonly devicesPerSecond: number;
}

/** Sends twice with each transport to the same devices; the second counts. */
async function measure(stage: Lifetime, store: BenchStore): Promise<readonly FanOutRow[]> {
  const dataDir = temporaryDirectory(stage);
  const first = await startEngine(stage, dataDir, store.environment);
  const demo = first.demo();
  const [tagId = 0] = demo.tagIds;
  await first.end('SIGTERM');
  await seed(dataDir, store, demo.appId, tagId);
  const rows: FanOutRow[] = [];
  for (const transport of TRANSPORTS) {
    const environment = { ...store.environment, SENDER_TRANSPORT: transport };
    const { baseUrl, end } = await startEngine(stage, dataDir, environment);
    // The first one is for the code to become hot, above all the embedded database's.
    await send(baseUrl, demo, tagId);
    rows.push({ store: store.name, transport, ...(await send(baseUrl, demo, tagId)) });
    await end('SIGTERM');
  }
  return rows;
}

async function send(baseUrl: string, demo: Demo, tagId: number) {
  const cpuBefore = await cpuMicros(baseUrl);
  const start = performance.now();
  const job = await push(baseUrl, demo, [tagId]);
  const rows = await finalStatus(baseUrl, demo, job, LIMIT_MS);
  const seconds = (performance.now() - start) / 1000;
  const cpu = (await cpuMicros(baseUrl)) - cpuBefore;
  const rssMb = Math.round(await residentMb(baseUrl));
  const delivered = rows.reduce((sum, row) => sum + row.successCount, 0);
  if (delivered !== DEVICES || !rows.every(sumCloses))
    throw new Error(`the sums do not close: ${JSON.stringify(rows)}`);
  return {
    devices: DEVICES,
    devicesPerSecond: Math.round(DEVICES / seconds),
    cpuMicrosEach: cpu / DEVICES,
    seconds,
    rssMb,
  };
}

/** How many times as fast as with `compat`, on each store. */
function ratiosOf(rows: readonly FanOutRow[]): Ratios {
  const ratios: Record<string, number> = {};
  for (const { store, transport, devicesPerSecond } of rows) {
    if (transport !== 'http2') continue;
    const compat = rows.find((row) => row.store === store && row.transport === 'compat');
    if (compat !== undefined)
      ratios[`overCompatOn${store === 'embedded' ? 'Embedded' : 'Postgres'}`] =
        devicesPerSecond / compat.devicesPerSecond;
  }
  return ratios;
}

async function seed(
  dataDir: string,
  store: BenchStore,
  appId: number,
  tagId: number,
): Promise<void> {
  const devices = { appId, platformId: PLATFORM_APNS, tagIds: [tagId], count: DEVICES };
  if (store.url === undefined) {
    const embedded = await openEmbedded(dataDir);
    await seedDevices(embedded.sql, devices);
    await embedded.sql.unsafe('analyze');
    await embedded.close();
    return;
  }
  const sql = connect({ kind: 'postgres', url: store.url }, 1);
  await seedDevices(sql, devices);
  await sql.unsafe('analyze');
  await sql.end();
}
