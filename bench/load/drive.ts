/** Sends requests by autocannon and samples what comes back, second by second. */

import autocannon from 'autocannon';
import type { LoadOptions } from './options.ts';
import type { LoadRequest } from './requests.ts';

/** A second of the load. */
export interface Sample {
  readonly second: number;
  readonly answers: number;
  /** Answers among them with another status than 2xx. */
  readonly refusals: number;
  /** Null: none was answered. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

export interface Driven {
  readonly seconds: number;
  readonly answers: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly mostMs: number;
  /** Answers by status, and requests without one as `none`. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The first refusal of each status, in words. */
  readonly refusals: Readonly<Record<string, string>>;
  readonly samples: readonly Sample[];
}

/** A request without an answer for so long counts as failed. */
const TIMEOUT_SECONDS = 30;
const REFUSAL_LENGTH_MAX = 300;

type Target = Pick<LoadOptions, 'baseUrl' | 'token' | 'connections'>;
type Length =
  | { readonly seconds: number; readonly rate: number | null }
  | { readonly amount: number };

/** `progress` is called each second, and gets the sample of the second before. */
export async function drive(
  { baseUrl, token, connections }: Target,
  length: Length,
  next: () => LoadRequest,
  progress: (sample: Sample) => void = () => undefined,
): Promise<Driven> {
  const statuses = new Map<string, number>();
  const refusals = new Map<string, string>();
  const samples: Sample[] = [];
  let current = new SampleBuilder(0);
  const take = (): void => {
    const sample = current.build();
    samples.push(sample);
    progress(sample);
    current = new SampleBuilder(sample.second + 1);
  };
  const options: autocannon.Options = {
    url: baseUrl,
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    timeout: TIMEOUT_SECONDS,
    ...lengthOf(length, connections),
    requests: [
      {
        setupRequest: (request) => ({ ...request, ...next() }),
        onResponse(status, body) {
          if (status < 300 || refusals.has(String(status))) return;
          refusals.set(String(status), body.slice(0, REFUSAL_LENGTH_MAX));
        },
      },
    ],
  };
  const timer = setInterval(take, 1_000);
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const running = autocannon(options, (error, result) =>
      error ? reject(error) : resolve(result),
    );
    running.on('response', (_client, status, _bytes, ms) => {
      statuses.set(String(status), (statuses.get(String(status)) ?? 0) + 1);
      current.add(status, ms);
    });
  }).finally(() => clearInterval(timer));
  if (current.isBegun) take();
  if (result.errors > 0) statuses.set('none', result.errors);
  const answers = samples.reduce((sum, sample) => sum + sample.answers, 0);
  return {
    seconds: result.duration,
    answers,
    perSecond: answers / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    mostMs: result.latency.max,
    statuses: Object.fromEntries(statuses),
    refusals: Object.fromEntries(refusals),
    samples,
  };
}

function lengthOf(length: Length, connections: number) {
  if ('amount' in length) {
    return { amount: length.amount, connections: Math.min(connections, length.amount) };
  }
  const { seconds, rate } = length;
  return { duration: seconds, connections, ...(rate === null ? {} : { overallRate: rate }) };
}

/** Holds the times of one second only. */
class SampleBuilder {
  readonly #second: number;
  readonly #timesMs: number[] = [];
  #refusals = 0;

  constructor(second: number) {
    this.#second = second;
  }

  get isBegun(): boolean {
    return this.#timesMs.length > 0;
  }

  add(status: number, ms: number): void {
    this.#timesMs.push(ms);
    if (status >= 300) this.#refusals += 1;
  }

  build(): Sample {
    const sorted = this.#timesMs.sort((a, b) => a - b);
    const at = (share: number): number | null =>
      sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null;
    return {
      second: this.#second,
      answers: sorted.length,
      refusals: this.#refusals,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
    };
  }
}
