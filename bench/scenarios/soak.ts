/**
 * A small load for a long time, on each store: does anything grow? Heaps are read after a
 * collection, from every thread of a real engine.
 */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import type { Lifetime } from '../../test/support/lifetime.ts';
import { findProgram } from '../../test/support/programs.ts';
import { startRedis } from '../../test/support/redis-server.ts';
import type { Options, Ratios, Result, Row, Scenario } from '../scenario.ts';
import { slope } from '../slope.ts';
import type { BenchStore } from '../stores.ts';
import { benchStores } from '../stores.ts';
import { REQUESTS_PER_SECOND, SoakLoad } from './soak/load.ts';
import type { ProbedEngine } from './soak/probed-engine.ts';
import { startProbedEngine } from './soak/probed-engine.ts';

const MINUTES = 40;
const SAMPLE_EVERY_MS = 15_000;
const RESULTS = join(import.meta.dirname, '..', '..', '..', 'bench', 'results', 'soak.json');

export const soak: Scenario = {
  summary: `${REQUESTS_PER_SECOND} requests a second, a push every four seconds; --minutes=N (${MINUTES}), --store=embedded or postgres`,
  isLong: true,
  async run(stage, options): Promise<Result> {
    const minutes = options.minutes ?? MINUTES;
    if (!(minutes > 0)) throw new Error('--minutes: a number above 0');
    const stores = (await benchStores(stage)).filter(({ name }) => isWanted(name, options));
    if (stores.length === 0) throw new Error('--store: embedded, or postgres if one is installed');
    const rows: SoakRow[] = [];
    for (const store of stores) rows.push(...(await measure(stage, store, minutes)));
    // A run of one store leaves the figures of the other as they are.
    const others = recorded().filter(({ store }) => !rows.some((row) => row.store === store));
    return summarise([...others, ...rows]);
  },
};

const isWanted = (name: string, { store }: Options): boolean => store === null || store === name;

interface SoakRow extends Row {
  readonly store: BenchStore['name'];
  readonly minutes: number;
  readonly what: string;
  /** At the beginning, in the middle and at the end; of a latency: in the three thirds. */
  readonly first: number | null;
  readonly middle: number | null;
  readonly last: number | null;
  /** The growth in the second half. Null: without meaning here. */
  readonly anHour: number | null;
}

/** Keyed by the name of the measure. */
type Sample = ReadonlyMap<string, number>;

interface Timed {
  readonly hours: number;
  readonly sample: Sample;
}

async function measure(
  stage: Lifetime,
  store: BenchStore,
  minutes: number,
): Promise<readonly SoakRow[]> {
  const environment: Record<string, string> = { ...store.environment };
  if (store.name === 'postgres') {
    if (findProgram('redis-server') === null) console.log('(redis-server is not installed)');
    else environment['REDIS_URL'] = (await startRedis(stage)).url;
  }
  const engine = await startProbedEngine(stage, environment);
  const load = new SoakLoad(engine.process);
  stage.teardown(() => load.stop());
  load.start();
  const startMs = performance.now();
  const endMs = startMs + minutes * 60_000;
  const samples: Timed[] = [];
  for (let nextMs = startMs; nextMs <= endMs; nextMs += SAMPLE_EVERY_MS) {
    await sleep(nextMs - performance.now());
    const hours = (performance.now() - startMs) / 3_600_000;
    const sample = await sampleOf(engine, store);
    samples.push({ hours, sample });
    tell(store, hours * 60, sample, load);
  }
  load.stop();
  await engine.process.end('SIGTERM');
  return rowsOf(store, minutes, samples, load);
}

async function sampleOf(engine: ProbedEngine, store: BenchStore): Promise<Sample> {
  const sample = new Map<string, number>();
  for (const [thread, { heapMb, externalMb }] of await engine.threads()) {
    sample.set(`heap of ${thread}, MB`, heapMb);
    sample.set(`external of ${thread}, MB`, externalMb);
  }
  sample.set(RESIDENT, engine.residentMb());
  sample.set('file descriptors', engine.descriptors());
  sample.set('metric series', await engine.series());
  sample.set('data, MB', await dataMb(engine, store));
  return sample;
}

const UNIT = /, MB$/;
const RESIDENT = 'resident, MB';
const isHeap = (what: string): boolean => what.startsWith('heap of ');

async function dataMb(engine: ProbedEngine, store: BenchStore): Promise<number> {
  if (store.url === undefined) return octetsIn(engine.process.dataDir) / 2 ** 20;
  const sql = postgres(store.url, { max: 1 });
  const [row] = await sql<{ octets: string }[]>`
    select pg_database_size(current_database()) as octets`;
  await sql.end();
  return Number(row?.octets) / 2 ** 20;
}

function octetsIn(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).reduce(
    // PostgreSQL removes files while they are listed.
    (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

function tell({ name }: BenchStore, minutes: number, sample: Sample, load: SoakLoad): void {
  const p99 = quantileMs(
    load.answered.slice((-SAMPLE_EVERY_MS / 1_000) * REQUESTS_PER_SECOND),
    0.99,
  );
  const parts = [
    ...[...sample].map(([what, value]) => `${what.replace(UNIT, '')} ${round(value)}`),
    `p99 ${round(p99)} ms`,
    `${load.answered.length} answered`,
    `${load.notAsked} not asked`,
    ...[...load.unexpected].map(([what, times]) => `${times} × ${what}`),
  ];
  console.log(`${name} ${minutes.toFixed(2)} min: ${parts.join(', ')}`);
}

function rowsOf(
  { name }: BenchStore,
  minutes: number,
  samples: readonly Timed[],
  load: SoakLoad,
): readonly SoakRow[] {
  const half = samples.slice(Math.floor(samples.length / 2));
  const whats = [...(samples.at(-1)?.sample.keys() ?? [])];
  const row = (what: string, values: readonly (number | undefined)[], anHour: number | null) => {
    const [first = null, middle = null, last = null] = values.map((value) =>
      value === undefined ? undefined : round(value),
    );
    return { store: name, minutes, what, first, middle, last, anHour };
  };
  const measured = whats.map((what) => {
    const at = (timed: Timed | undefined) => timed?.sample.get(what);
    const points = half.map((timed) => [timed.hours, at(timed) ?? Number.NaN] as const);
    return row(what, [at(samples[0]), at(half[0]), at(half.at(-1))], round(slope(points)));
  });
  const thirds = [0, 1, 2].map((third) => {
    const { answered } = load;
    const [from, to] = [third, third + 1].map((end) => Math.floor((answered.length * end) / 3));
    return quantileMs(answered.slice(from, to), 0.99);
  });
  const failures = [...load.unexpected.values()].reduce((sum, times) => sum + times, 0);
  return [
    ...measured,
    row('p99, ms', thirds, null),
    row('requests', [undefined, undefined, load.answered.length], null),
    row('requests not asked', [undefined, undefined, load.notAsked], null),
    row(UNEXPECTED, [undefined, undefined, failures], null),
  ];
}

const UNEXPECTED = 'unexpected answers';

function summarise(rows: readonly SoakRow[]): Result {
  const stores = [...new Set(rows.map(({ store }) => store))];
  const byStore = (figure: (rows: readonly SoakRow[]) => number | null): Ratios =>
    Object.fromEntries(
      stores.map((store) => [store, figure(rows.filter((row) => row.store === store))]),
    );
  return {
    rows,
    figures: {
      heapMbAnHourMax: byStore((of) =>
        Math.max(...of.filter(({ what }) => isHeap(what)).map(({ anHour }) => anHour ?? 0)),
      ),
      residentMbAnHour: byStore((of) => of.find(({ what }) => what === RESIDENT)?.anHour ?? null),
      unexpected: byStore((of) => of.find(({ what }) => what === UNEXPECTED)?.last ?? null),
    },
  };
}

/** The rows of the run before. */
function recorded(): readonly SoakRow[] {
  try {
    return (JSON.parse(readFileSync(RESULTS, 'utf8')) as { readonly rows: SoakRow[] }).rows;
  } catch {
    return [];
  }
}

function quantileMs(answered: readonly { readonly tookMs: number }[], share: number): number {
  const sorted = answered.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
}

/** To the hundredth. */
const round = (value: number): number => Math.round(value * 100) / 100;
