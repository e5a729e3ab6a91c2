/**
 * One push to a million devices, end to end: from the POST until the ledger has closed. The sinks,
 * PostgreSQL and Redis are processes of their own; h2load sends to the same sink in turns with the
 * engine.
 */

import type { Lifetime } from '../../test/support/lifetime.ts';
import type { EngineProcess } from '../../test/support/processes.ts';
import { findH2load } from '../clients/h2load.ts';
import { median } from '../median.ts';
import type { Result, Row, Scenario } from '../scenario.ts';
import { startNghttpdSink } from '../sinks/nghttpd.ts';
import type { Sink } from '../sinks/sink.ts';
import { environmentOf } from './fan-out/environment.ts';
import { measureEstimate } from './fan-out/estimate.ts';
import type { FanOutGrounds } from './fan-out/population.ts';
import {
  addDevices,
  DEVICES,
  DEVICES_FIRST,
  DEVICES_MANY,
  prepareFanOut,
} from './fan-out/population.ts';
import { measureReach } from './fan-out/reach.ts';
import type { Sent } from './fan-out/send.ts';
import { peakMb, send } from './fan-out/send.ts';
import { measureBeside, measureSmallTag } from './fan-out/small-tag.ts';

const ROUNDS = 5;
/** Two to three seconds of it. */
const H2LOAD_REQUESTS = 500_000;
/** Small sends beside the one to two million. */
const BESIDE = 5;

export const fanOut: Scenario = {
  summary: `one push to ${DEVICES.toLocaleString('en')} APNs devices on PostgreSQL, ledger included, ${ROUNDS} rounds in turns with h2load, medians; CPU and memory of the engine's process`,
  async run(stage) {
    const nghttpd = await startNghttpdSink(stage);
    const grounds = nghttpd === null ? null : await prepareFanOut(stage, nghttpd.tokens);
    if (nghttpd === null || grounds === null) return { rows: [] };
    return measureAll(stage, grounds, nghttpd);
  },
  parts: { ours: measureOurs, estimate: measureEstimates },
};

/** The engine alone: enough to compare it with another checkout's. */
async function measureOurs(stage: Lifetime): Promise<Result> {
  const nghttpd = await startNghttpdSink(stage);
  const grounds = nghttpd === null ? null : await prepareFanOut(stage, nghttpd.tokens);
  if (nghttpd === null || grounds === null) return { rows: [] };
  const engine = await grounds.start('redis', environmentOf(stage, nghttpd));
  const sends = await rounds(grounds, engine);
  return { rows: [rowOf('redis', 'nghttpd', sends, await peakMb(engine))] };
}

async function measureEstimates(stage: Lifetime): Promise<Result> {
  const grounds = await prepareFanOut(stage, ['a'.repeat(64)]);
  if (grounds === null) return { rows: [] };
  await addDevices(grounds);
  return { rows: [await measureEstimate(grounds)] };
}

async function measureAll(stage: Lifetime, grounds: FanOutGrounds, nghttpd: Sink): Promise<Result> {
  const toNghttpd = environmentOf(stage, nghttpd);
  const rows: Row[] = [];

  const engine = await grounds.start('redis', toNghttpd);
  const { sends, h2load } = await inTurns(grounds, engine, nghttpd);
  const ours = rowOf('redis', 'nghttpd', sends, await peakMb(engine));
  const reachOctets = await measureReach(grounds);
  const beside = measureBeside(grounds, engine, BESIDE);
  const many = await send(grounds, engine, grounds.tags.many, DEVICES_MANY);
  const smallBesideMs = await beside;
  const ofMany = rowOf('redis', 'nghttpd', [many], await peakMb(engine), DEVICES_MANY);
  await engine.end('SIGTERM');
  rows.push(ours, ofMany);
  if (h2load !== null) rows.push(h2load);

  for (const [index, sink, environment] of [
    ['sql', 'nghttpd', toNghttpd],
    ['redis', 'simulator', grounds.simulator.environment],
  ] as const) {
    const other = await grounds.start(index, environment);
    rows.push(rowOf(index, sink, await rounds(grounds, other), await peakMb(other)));
    await other.end('SIGTERM');
  }
  const few = await measureSmallTag(stage, grounds);
  await addDevices(grounds);
  const fewAmongMost = await measureSmallTag(stage, grounds);
  return {
    rows,
    ratios: {
      overH2load: h2load === null ? null : ours.devicesPerSecond / h2load.devicesPerSecond,
      rssOfTwoMillion: ofMany.peakMb / ours.peakMb,
      smallTagOfTenMillion: fewAmongMost.p50Ms / few.p50Ms,
    },
    figures: {
      cpuMicros: ours.cpuMicros,
      rssMb: ours.peakMb,
      smallTagP50Ms: few.p50Ms,
      smallTagP95Ms: few.p95Ms,
      smallTagOfTenMillionP50Ms: fewAmongMost.p50Ms,
      smallBesideMs,
      ...reachOctets,
    },
  };
}

interface FanOutRow extends Row {
  readonly devicesPerSecond: number;
  readonly cpuMicros: number;
  readonly peakMb: number;
}

/**
 * The engine and h2load, one after the other, so that a minute in which the machine is busy
 * elsewhere falls on both.
 */
async function inTurns(grounds: FanOutGrounds, engine: EngineProcess, sink: Sink) {
  const h2load = findH2load();
  await send(grounds, engine, grounds.tags.first, DEVICES_FIRST);
  const sends: Sent[] = [];
  const bare = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    if (h2load !== null) bare.push(await h2load.measure(sink, H2LOAD_REQUESTS));
    sends.push(await send(grounds, engine, grounds.tags.one, DEVICES));
  }
  if (bare.length === 0) return { sends, h2load: null };
  const row = {
    client: 'h2load',
    index: null,
    sink: sink.name,
    devices: H2LOAD_REQUESTS,
    devicesPerSecond: Math.round(median(bare.map(({ perSecond }) => perSecond))),
    cpuMicros: median(bare.map(({ cpuMicros }) => cpuMicros)),
    firstMs: null,
    lastMs: null,
    peakMb: null,
  };
  return { sends, h2load: row };
}

async function rounds(grounds: FanOutGrounds, engine: EngineProcess): Promise<readonly Sent[]> {
  await send(grounds, engine, grounds.tags.first, DEVICES_FIRST);
  const sends: Sent[] = [];
  for (let round = 0; round < ROUNDS; round += 1)
    sends.push(await send(grounds, engine, grounds.tags.one, DEVICES));
  return sends;
}

function rowOf(
  index: 'redis' | 'sql',
  sink: Sink['name'],
  sends: readonly Sent[],
  peak: number,
  devices = DEVICES,
): FanOutRow {
  const middle = (name: keyof Sent): number => median(sends.map((sent) => sent[name]));
  return {
    client: 'tagcast',
    index,
    sink,
    devices,
    devicesPerSecond: Math.round(middle('devicesPerSecond')),
    cpuMicros: middle('cpuMicros'),
    firstMs: Math.round(middle('firstMs')),
    lastMs: Math.round(middle('lastMs')),
    peakMb: Math.round(peak),
  };
}
