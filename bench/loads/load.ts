/** What a load generator does to a registering server, and what it saw. */

export interface Target {
  readonly baseUrl: string;
  readonly appId: number;
  readonly platformId: number;
  readonly tagIds: readonly number[];
  readonly token: string;
}

/**
 * `new`: devices that nobody had before, with 3 tags each. `mix`: 70 % known devices that register what they have, 20 %
 * known ones whose tags change (`set`), 10 % new ones.
 */
export type Kind = 'new' | 'mix';

export interface Round {
  readonly connections: number;
  readonly seconds: number;
  readonly kind: Kind;
}

export interface Seen {
  readonly perSecond: number;
  readonly answered: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers other than 2xx, and connections lost. */
  readonly failures: number;
}

export interface Load {
  readonly name: 'wrk' | 'autocannon';
  run(target: Target, round: Round): Promise<Seen>;
}

/** Devices that a mix knows. They are made by `knownDevice`, in every generator alike. */
export const KNOWN_DEVICES = 20_000;
/** Of a hundred requests of a mix. */
export const UNCHANGED_PERCENT = 70;
export const CHANGED_PERCENT = 20;

/** The token of the known device `number`. */
export const knownDevice = (number: number): string => number.toString(16).padStart(64, 'f');
