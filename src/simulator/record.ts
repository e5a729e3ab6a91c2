/**
 * What a simulated provider received: how often each token, with what end. A test asks it whether every
 * device was reached exactly once, so it must hold a million tokens without falling over.
 */

import { CappedMap } from './capped-map.ts';
import type { ProviderRequest } from './exchange.ts';

/** Tokens with counts, each provider: 120 bytes for an APNs token, 200 for an FCM token. Later ones are answered but not recorded. */
export const RECORDED_TOKENS_MAX = 2_000_000;

/**
 * Tokens whose last request is kept whole, each provider; the newest stay. Ten times as many cost 5 % of
 * the requests per second: whatever outlives a request is moved about by the garbage collector.
 */
export const LAST_REQUESTS_MAX = 1_000;

export interface TokenReport {
  readonly count: number;
  readonly accepted: number;
  readonly rejected: Readonly<Record<string, number>>;
  readonly last: {
    readonly headers: Readonly<Record<string, unknown>>;
    readonly payload: unknown;
  } | null;
}

export interface ProviderState {
  readonly accepted: number;
  readonly rejected: Readonly<Record<string, number>>;
  readonly connectionsOpened: number;
  readonly tokens: number;
  /** Accepted deliveries beyond the first of their token. */
  readonly duplicates: number;
  /** Requests for tokens beyond RECORDED_TOKENS_MAX. */
  readonly notRecorded: number;
}

type Tally = Record<string, number>;

export class ProviderRecord {
  /** Accepted deliveries of every token seen. A plain number a token is what makes a million affordable. */
  readonly #accepted = new Map<string, number>();
  /** Only the tokens that were ever rejected. */
  readonly #rejected = new Map<string, Tally>();
  readonly #last = new CappedMap<ProviderRequest>(LAST_REQUESTS_MAX);
  #acceptedTotal = 0;
  #rejectedTotal: Tally = {};
  #connectionsOpened = 0;
  #duplicates = 0;
  #notRecorded = 0;

  openConnection(): void {
    this.#connectionsOpened += 1;
  }

  /** Counts something accepted that is no push. */
  acceptUnnamed(): void {
    this.#acceptedTotal += 1;
  }

  accept(token: string, request: ProviderRequest): void {
    this.#acceptedTotal += 1;
    if (!this.#admit(token, request)) return;
    const before = this.#accepted.get(token) ?? 0;
    if (before > 0) this.#duplicates += 1;
    this.#accepted.set(token, before + 1);
  }

  /** Counts a rejection; the token is absent when the request did not get as far as a well-formed one. */
  reject(reason: string, token?: string, request?: ProviderRequest): void {
    addOne(this.#rejectedTotal, reason);
    if (token === undefined || request === undefined || !this.#admit(token, request)) return;
    const tally = this.#rejected.get(token);
    if (tally === undefined) this.#rejected.set(token, { [reason]: 1 });
    else addOne(tally, reason);
    if (!this.#accepted.has(token)) this.#accepted.set(token, 0);
  }

  /** How many requests for this token there were, whatever their end. */
  attempts(token: string): number {
    return (this.#accepted.get(token) ?? 0) + sum(this.#rejected.get(token));
  }

  state(): ProviderState {
    return {
      accepted: this.#acceptedTotal,
      rejected: { ...this.#rejectedTotal },
      connectionsOpened: this.#connectionsOpened,
      tokens: this.#accepted.size,
      duplicates: this.#duplicates,
      notRecorded: this.#notRecorded,
    };
  }

  report(token: string): TokenReport {
    const last = this.#last.get(token);
    return {
      count: this.attempts(token),
      accepted: this.#accepted.get(token) ?? 0,
      rejected: { ...this.#rejected.get(token) },
      last: last === undefined ? null : describe(last),
    };
  }

  /** How many tokens got exactly k accepted deliveries, for each k from 1 up. */
  timesHistogram(): Readonly<Record<string, number>> {
    const histogram: Tally = {};
    for (const times of this.#accepted.values()) if (times > 0) addOne(histogram, String(times));
    return histogram;
  }

  /** Tokens with exactly this many accepted deliveries; without a number, all that were seen. */
  list(times: number | undefined, limit: number): readonly string[] {
    const tokens: string[] = [];
    for (const [token, accepted] of this.#accepted) {
      if (tokens.length >= limit) break;
      if (times === undefined || accepted === times) tokens.push(token);
    }
    return tokens;
  }

  reset(): void {
    this.#accepted.clear();
    this.#rejected.clear();
    this.#last.clear();
    this.#acceptedTotal = 0;
    this.#rejectedTotal = {};
    this.#connectionsOpened = 0;
    this.#duplicates = 0;
    this.#notRecorded = 0;
  }

  /** Whether this token is or may still be recorded; if so its last request is kept. */
  #admit(token: string, request: ProviderRequest): boolean {
    if (!this.#accepted.has(token) && this.#accepted.size >= RECORDED_TOKENS_MAX) {
      this.#notRecorded += 1;
      return false;
    }
    this.#last.set(token, request);
    return true;
  }
}

function addOne(tally: Tally, key: string): void {
  tally[key] = (tally[key] ?? 0) + 1;
}

function sum(tally: Tally | undefined): number {
  if (tally === undefined) return 0;
  return Object.values(tally).reduce((total, count) => total + count, 0);
}

/** The request as GET /received shows it: an authorization is nobody's business, a body is JSON or is shown as text. */
function describe(request: ProviderRequest): NonNullable<TokenReport['last']> {
  const { authorization: _, ...headers } = request.headers;
  const text = request.body.toString();
  try {
    return { headers, payload: JSON.parse(text) };
  } catch {
    return { headers, payload: text };
  }
}
