/** The work of a load generator on a registering server, and its results. */

export interface Target {
  readonly baseUrl: string;
  readonly appId: number;
  readonly platformId: number;
  readonly tagIds: readonly number[];
  readonly token: string;
}

/**
 * `new`: devices that are new to the server. `repeated`: known devices that register what they
 * have. `mix`: 70 % of these, 20 % known ones whose tags change (`set`), 10 % new ones.
 */
export type Kind = 'new' | 'repeated' | 'mix';

export interface Round {
  readonly connections: number;
  readonly seconds: number;
  readonly kind: Kind;
  /** Tags of each device. */
  readonly tags: number;
}

export interface Seen {
  readonly perSecond: number;
  readonly answered: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers other than 2xx, and connections lost. */
  readonly failures: number;
  /** The share of the connections that resumed a TLS session; null: not counted. */
  readonly resumedShare: number | null;
}

/**
 * The first two keep their connections. `new connections` opens one for each request, and so does
 * `resumed sessions`, whose TLS handshakes are short ones but for the first.
 */
export type LoadName = 'wrk' | 'autocannon' | 'new connections' | 'resumed sessions';

export interface Load {
  readonly name: LoadName;
  run(target: Target, round: Round): Promise<Seen>;
}

/**
 * Devices that are known with each number of tags. They are made by `knownDevice`, in every
 * generator alike.
 */
export const KNOWN_DEVICES = 20_000;
/**
 * Those below it only ever register what they have: a run knows nothing of what one before it has
 * changed, and a repetition after a change would be another change.
 */
export const UNCHANGING_DEVICES = KNOWN_DEVICES / 2;
/** The number of repetitions in a hundred requests of a mix. */
export const UNCHANGED_PERCENT = 70;
export const CHANGED_PERCENT = 20;

/** The digits before its number, of the known devices that have so many tags. */
export const knownPrefix = (tags: number): string => `${tags.toString(16)}f`;

/** The token of the known device `number`: always as many digits, so that no two are the same. */
export const knownDevice = (number: number, tags: number): string =>
  number.toString(16).padStart(8, '0').padStart(64, knownPrefix(tags));
