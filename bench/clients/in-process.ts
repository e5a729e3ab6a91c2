/**
 * Measures a client that runs in this process: keeps it at IN_FLIGHT pushes until the round is
 * over.
 */

import type { Sink } from '../sinks/sink.ts';
import type { Client, Round } from './client.ts';
import { IN_FLIGHT, percentile } from './client.ts';

/** Called once for each push, later than `push` returns; `refusal` says why it was not accepted. */
export type Settled = (position: number, refusal?: unknown) => void;

/** A client on its connection to a sink. */
export interface Connected {
  push(token: string, position: number): void;
  close(): unknown;
}

export type Connect = (sink: Sink, settled: Settled) => Promise<Connected>;

/** Sent first on every connection, and not counted: header tables fill, TCP finds its window. */
const WARM_UP_SHARE = 0.1;
/**
 * Two readings of the clock for every push would be a tenth of what the fastest client needs for
 * it.
 */
const TIMED_EVERY = 16;
/** A round takes two seconds; who needs this long has lost an answer. */
const LIMIT_MS = 60_000;

export const inProcess = (name: string, connect: Connect): Client => ({
  name,
  async measure(sink, count) {
    const pump = new Pump(`${name} to ${sink.name}`, sink.tokens);
    const connected = await connect(sink, (position, refusal) => pump.settled(position, refusal));
    await pump.run(connected, Math.ceil(count * WARM_UP_SHARE));
    const round = await measured(pump, connected, count);
    await connected.close();
    return round;
  },
});

async function measured(pump: Pump, connected: Connected, count: number): Promise<Round> {
  const cpuBefore = process.cpuUsage();
  const startMs = performance.now();
  const latenciesMs = await pump.run(connected, count);
  const seconds = (performance.now() - startMs) / 1_000;
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    perSecond: count / seconds,
    cpuMicros: (user + system) / count,
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
  };
}

/** Starts a push for each that is settled. */
class Pump {
  readonly #label: string;
  readonly #tokens: readonly string[];
  #connected: Connected | null = null;
  #count = 0;
  #started = 0;
  #settled = 0;
  readonly #refusals: unknown[] = [];
  /** The start of every TIMED_EVERY-th push, and how long it took from its end on. */
  #timesMs = new Float64Array(0);
  #end: () => void = () => undefined;

  constructor(label: string, tokens: readonly string[]) {
    this.#label = label;
    this.#tokens = tokens;
  }

  /** Pushes `count` times and gives a sample of their latencies in ascending order. */
  async run(connected: Connected, count: number): Promise<Float64Array> {
    this.#connected = connected;
    this.#count = count;
    this.#started = 0;
    this.#settled = 0;
    this.#timesMs = new Float64Array(Math.ceil(count / TIMED_EVERY));
    await new Promise<void>((resolve, reject) => {
      const limit = setTimeout(() => {
        reject(
          new Error(
            `${this.#label}: ${count - this.#settled} of ${count} were not answered in time`,
          ),
        );
      }, LIMIT_MS);
      this.#end = () => {
        clearTimeout(limit);
        resolve();
      };
      for (let started = 0; started < Math.min(IN_FLIGHT, count); started += 1) this.#start();
    });
    const [refusal] = this.#refusals;
    if (refusal === undefined) return this.#timesMs.sort();
    const message = `${this.#label}: ${this.#refusals.length} of ${count} were not answered 200`;
    throw new Error(message, { cause: refusal });
  }

  settled(position: number, refusal: unknown): void {
    if (refusal !== undefined) this.#refusals.push(refusal);
    if (position % TIMED_EVERY === 0) {
      const slot = position / TIMED_EVERY;
      this.#timesMs[slot] = performance.now() - (this.#timesMs[slot] ?? 0);
    }
    this.#settled += 1;
    if (this.#started < this.#count) this.#start();
    else if (this.#settled === this.#count) this.#end();
  }

  #start(): void {
    const position = this.#started;
    this.#started += 1;
    if (position % TIMED_EVERY === 0) this.#timesMs[position / TIMED_EVERY] = performance.now();
    this.#connected?.push(this.#tokens[position % this.#tokens.length] ?? '', position);
  }
}
