/**
 * The record of a simulated provider: how often each token was sent to, and with which result. A
 * test asks it whether every device was reached exactly once, so it must hold a million tokens.
 */

import { parseJson } from '../../../std/src/json.ts';
import type { ProviderRequest } from '../server/exchange.ts';
import type { KeptRequest } from './last-requests.ts';
import { LastRequests } from './last-requests.ts';
import { pushOf } from './push-of.ts';
import type { Removal, Shown } from './screens.ts';
import { Screens } from './screens.ts';
import { TokenCounts } from './token-counts.ts';

interface TokenReport {
  readonly count: number;
  readonly accepted: number;
  /** Accepted requests whose answer never reached the client. */
  readonly lostAnswers: number;
  readonly rejected: Readonly<Record<string, number>>;
  readonly last: {
    readonly headers: Readonly<Record<string, unknown>>;
    readonly payload: unknown;
  } | null;
}

export interface ProviderState {
  readonly accepted: number;
  /**
   * Accepted requests whose answer never reached the client, which cannot know that the device was
   * reached.
   */
  readonly lostAnswers: number;
  readonly rejected: Readonly<Record<string, number>>;
  readonly connectionsOpened: number;
  readonly tokens: number;
  /** Accepted deliveries of a push to a token that it had reached before. */
  readonly duplicates: number;
  /**
   * Duplicates beyond the lost answers of their token: the client could know that it had reached
   * the device.
   */
  readonly unexplainedDuplicates: number;
  /** Requests for tokens beyond TOKENS_MAX. */
  readonly notRecorded: number;
}

type Tally = Record<string, number>;

export class ProviderRecord {
  readonly #shownBy: (request: ProviderRequest) => Shown | Removal | null;
  readonly #screens = new Screens();
  /** Every token seen, with its accepted deliveries. */
  readonly #accepted = new TokenCounts();
  /** Only the tokens that were ever rejected. */
  readonly #rejected = new Map<string, Tally>();
  /** Only the tokens with a lost answer. */
  readonly #lostAnswers = new Map<string, number>();
  readonly #last = new LastRequests();
  #acceptedTotal = 0;
  #lostAnswersTotal = 0;
  #rejectedTotal: Tally = {};
  #connectionsOpened = 0;

  /** `shownBy`: the alert that a device shows of an accepted request. Null: none is kept. */
  constructor(shownBy: (request: ProviderRequest) => Shown | Removal | null = () => null) {
    this.#shownBy = shownBy;
  }

  openConnection(): void {
    this.#connectionsOpened += 1;
  }

  /** Counts an accepted request that is not a push. */
  acceptUnnamed(): void {
    this.#acceptedTotal += 1;
  }

  accept(token: string, request: ProviderRequest): void {
    this.#acceptedTotal += 1;
    this.#accepted.increment(token, pushOf(request.body));
    this.#last.keep(token, request);
    const shown = this.#shownBy(request);
    if (shown === null) return;
    if ('removes' in shown) this.#screens.remove(token, shown);
    else this.#screens.show(token, shown);
  }

  /** The alerts on the screen of a device, the newest last. */
  shownOn(token: string): readonly Shown[] {
    return this.#screens.of(token);
  }

  /** The answer to an accepted push never reaches the client. */
  loseAnswer(token: string): void {
    this.#lostAnswersTotal += 1;
    if (this.#accepted.has(token)) {
      this.#lostAnswers.set(token, (this.#lostAnswers.get(token) ?? 0) + 1);
    }
  }

  /** Counts a rejection. The token is absent when the request has no well-formed one. */
  reject(reason: string, token?: string, request?: ProviderRequest): void {
    addOne(this.#rejectedTotal, reason);
    if (token === undefined || request === undefined || !this.#accepted.admit(token)) return;
    const tally = this.#rejected.get(token);
    if (tally === undefined) this.#rejected.set(token, { [reason]: 1 });
    else addOne(tally, reason);
    this.#last.keep(token, request);
  }

  /** The number of requests for this token, with any result. */
  attempts(token: string): number {
    return this.#accepted.countOf(token) + sum(this.#rejected.get(token));
  }

  state(): ProviderState {
    const { tokens, repeats, turnedAway } = this.#accepted.totals();
    return {
      accepted: this.#acceptedTotal,
      lostAnswers: this.#lostAnswersTotal,
      rejected: { ...this.#rejectedTotal },
      connectionsOpened: this.#connectionsOpened,
      tokens,
      duplicates: repeats,
      unexplainedDuplicates: repeats - this.#explainedRepeats(),
      notRecorded: turnedAway,
    };
  }

  report(token: string): TokenReport {
    const last = this.#accepted.has(token) ? this.#last.find(token) : undefined;
    return {
      count: this.attempts(token),
      accepted: this.#accepted.countOf(token),
      lostAnswers: this.#lostAnswers.get(token) ?? 0,
      rejected: { ...this.#rejected.get(token) },
      last: last === undefined ? null : describe(last),
    };
  }

  /** How many tokens got exactly k accepted deliveries, for each k from 1 up. */
  timesHistogram(): Readonly<Record<string, number>> {
    const histogram: Tally = {};
    for (const { count } of this.#accepted.entries())
      if (count > 0) addOne(histogram, String(count));
    return histogram;
  }

  /** Tokens with exactly this many accepted deliveries; without a number, all that were seen. */
  list(times: number | undefined, limit: number): readonly string[] {
    const tokens: string[] = [];
    for (const { count, readToken } of this.#accepted.entries()) {
      if (tokens.length >= limit) break;
      if (times === undefined || count === times) tokens.push(readToken());
    }
    return tokens;
  }

  reset(): void {
    this.#accepted.clear();
    this.#rejected.clear();
    this.#lostAnswers.clear();
    this.#last.clear();
    this.#screens.clear();
    this.#acceptedTotal = 0;
    this.#lostAnswersTotal = 0;
    this.#rejectedTotal = {};
    this.#connectionsOpened = 0;
  }

  /** Each lost answer explains one repetition. */
  #explainedRepeats(): number {
    let explained = 0;
    for (const [token, lost] of this.#lostAnswers) {
      explained += Math.min(lost, this.#accepted.repeatsOf(token));
    }
    return explained;
  }
}

function addOne(tally: Tally, key: string): void {
  tally[key] = (tally[key] ?? 0) + 1;
}

function sum(tally: Tally | undefined): number {
  if (tally === undefined) return 0;
  return Object.values(tally).reduce((total, count) => total + count, 0);
}

/**
 * The request as GET /received shows it: without the authorization, which is secret, and with the
 * body as JSON or else as text.
 */
function describe(request: KeptRequest): NonNullable<TokenReport['last']> {
  const { method, path, authority } = request;
  const headers: Record<string, string> = {
    ':method': method,
    ':path': path,
    ':authority': authority,
  };
  for (const { name, value } of request.fields) {
    if (name === 'authorization') continue;
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  const text = request.body.toString();
  const payload = parseJson(text);
  return { headers, payload: payload === undefined ? text : payload };
}
