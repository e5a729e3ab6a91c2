/** New devices with three tags each through POST /push-api/reg: what an operator tries first with autocannon. */

import { randomBytes } from 'node:crypto';
import autocannon from 'autocannon';
import type { Demo } from '../../test/support/processes.ts';
import { startEngine } from '../../test/support/processes.ts';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { cpuMicros, residentMb } from '../cpu.ts';
import type { Row, Scenario } from '../scenario.ts';
import { benchStores } from '../stores.ts';

const CONNECTIONS = [64, 512];
const DURATION_SECONDS = 10;
const WARM_UP_SECONDS = 2;

export const register: Scenario = {
  summary: `new devices with 3 tags each, ${DURATION_SECONDS} s a row, autocannon on the same machine`,
  async run(stage) {
    const rows: Row[] = [];
    for (const store of await benchStores(stage)) {
      const engine = await startEngine(stage, temporaryDirectory(stage), store.environment);
      for (const connections of CONNECTIONS) {
        rows.push({
          store: store.name,
          ...(await measure(engine.baseUrl, engine.demo(), connections)),
        });
      }
      await engine.end('SIGTERM');
    }
    return { rows };
  },
};

async function measure(baseUrl: string, demo: Demo, connections: number): Promise<Row> {
  await load(baseUrl, demo, connections, WARM_UP_SECONDS);
  const before = await cpuMicros(baseUrl);
  const result = await load(baseUrl, demo, connections, DURATION_SECONDS);
  const cpu = (await cpuMicros(baseUrl)) - before;
  const answered = result['2xx'];
  return {
    connections,
    registrationsPerSecond: Math.round(answered / result.duration),
    cpuMicrosEach: cpu / answered,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    refused: result.non2xx,
    errors: result.errors,
    rssMb: Math.round(await residentMb(baseUrl)),
  };
}

function load(
  baseUrl: string,
  demo: Demo,
  connections: number,
  duration: number,
): Promise<autocannon.Result> {
  const tagId = demo.tagIds.slice(0, 3);
  return autocannon({
    url: `${baseUrl}/push-api/reg`,
    method: 'POST',
    connections,
    duration,
    headers: { authorization: `Bearer ${demo.apiUser.token}`, 'content-type': 'application/json' },
    requests: [
      {
        setupRequest: (request) => ({
          ...request,
          body: JSON.stringify({
            appId: demo.appId,
            platformId: 3,
            tagId,
            deviceId: randomBytes(32).toString('hex'),
          }),
        }),
      },
    ],
  });
}
