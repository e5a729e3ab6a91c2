/** Counts what transports do, in plain fields: every send passes here. */

import type { Outcome } from '../domain/outcome.ts';
import type { HistogramReading } from '../std/histogram.ts';
import { Histogram } from '../std/histogram.ts';

/** From the same data centre to the time-out: each bound is about twice the one before. */
const LATENCY_BOUNDS_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

type OutcomeCounts = Record<Outcome['kind'], number>;

export interface TransportReading {
  readonly connections: number;
  readonly streams: number;
  readonly connects: number;
  readonly connectFailures: number;
  readonly latencySeconds: HistogramReading;
  readonly outcomes: Readonly<OutcomeCounts>;
}

export class TransportMeter {
  connections = 0;
  streams = 0;
  connects = 0;
  connectFailures = 0;
  /** How each send ended that was handed to a transport. */
  outcomes: OutcomeCounts = noOutcomes();
  readonly #latencySeconds = new Histogram(LATENCY_BOUNDS_SECONDS);

  /** `latencyMs`: from the opening of the stream to the end of the answer. */
  answered(latencyMs: number): void {
    this.#latencySeconds.observe(latencyMs / 1_000);
  }

  add({ connects, connectFailures, latencySeconds, outcomes }: TransportReading): void {
    this.connects += connects;
    this.connectFailures += connectFailures;
    this.#latencySeconds.add(latencySeconds);
    for (const kind of OUTCOME_KINDS) this.outcomes[kind] += outcomes[kind];
  }

  get reading(): TransportReading {
    const { connections, streams, connects, connectFailures, outcomes } = this;
    const latencySeconds = this.#latencySeconds.reading;
    return { connections, streams, connects, connectFailures, latencySeconds, outcomes };
  }

  take(): TransportReading {
    const taken = { ...this.reading, latencySeconds: this.#latencySeconds.take() };
    this.connects = 0;
    this.connectFailures = 0;
    this.outcomes = noOutcomes();
    return taken;
  }
}

const noOutcomes = (): OutcomeCounts => ({
  delivered: 0,
  gone: 0,
  'bad-token': 0,
  'bad-message': 0,
  'bad-credential': 0,
  'expired-authorization': 0,
  'throttled-device': 0,
  'throttled-target': 0,
  unavailable: 0,
  refused: 0,
  unknown: 0,
});

const OUTCOME_KINDS = Object.keys(noOutcomes()) as readonly Outcome['kind'][];
