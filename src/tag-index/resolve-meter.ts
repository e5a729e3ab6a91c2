/** Counts who resolves the device groups of a thread, in which time, and why Redis does not. */

import type { HistogramReading } from '../std/histogram.ts';
import { Histogram } from '../std/histogram.ts';

/** From a group with few devices in Redis to the end of a statement's time. */
const BOUNDS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** The counts since the reading before. */
export interface ResolveReading {
  readonly redisSeconds: HistogramReading;
  readonly databaseSeconds: HistogramReading;
  readonly unavailable: number;
  readonly stale: number;
}

export class ResolveMeter {
  /** Seconds that Redis took to resolve a group. */
  readonly redisSeconds = new Histogram(BOUNDS_SECONDS);
  readonly databaseSeconds = new Histogram(BOUNDS_SECONDS);
  /** Groups that the database resolved because Redis did not answer … */
  unavailable = 0;
  /** … or could not prove that they are current. */
  stale = 0;

  /** Adds what a meter of another thread has counted. */
  add({ redisSeconds, databaseSeconds, unavailable, stale }: ResolveReading): void {
    this.redisSeconds.add(redisSeconds);
    this.databaseSeconds.add(databaseSeconds);
    this.unavailable += unavailable;
    this.stale += stale;
  }

  get reading(): ResolveReading {
    const { unavailable, stale } = this;
    const redisSeconds = this.redisSeconds.reading;
    return { redisSeconds, databaseSeconds: this.databaseSeconds.reading, unavailable, stale };
  }

  take(): ResolveReading {
    const { unavailable, stale } = this;
    this.unavailable = 0;
    this.stale = 0;
    const redisSeconds = this.redisSeconds.take();
    return { redisSeconds, databaseSeconds: this.databaseSeconds.take(), unavailable, stale };
  }
}
