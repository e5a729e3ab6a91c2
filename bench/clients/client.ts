/** A client under measurement, whatever it is made of. */

import type { Sink } from '../sinks/sink.ts';

/**
 * The load that every client has to keep up: one connection, and so many requests on it without an
 * answer.
 */
export const IN_FLIGHT = 500;

export interface Round {
  readonly perSecond: number;
  /** CPU time of the client's process, user and system, for each request. */
  readonly cpuMicros: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface Client {
  readonly name: string;
  /** On a connection of its own; throws unless all `count` pushes are answered 200. */
  measure(sink: Sink, count: number): Promise<Round>;
}

/** The value below which this share of them lies; they are in ascending order. */
export const percentile = (sorted: ArrayLike<number>, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
