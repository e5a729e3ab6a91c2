/**
 * Authorization header → caller. A known credential is answered from memory, without a query and without a password
 * hash, and so is one that was refused; what is remembered is short-lived, so that a disabled client or a rotated credential is refused
 * within seconds.
 */

import { hash, randomBytes } from 'node:crypto';
import { CappedMap } from '../std/capped-map.ts';
import type { CredentialRow } from '../store/credentials/find-credentials.ts';
import type { Sql } from '../store/sql.ts';
import { parseAuthorization } from './authorization-header.ts';
import type { Caller } from './caller.ts';
import type { Presentable } from './credential-lookup.ts';
import { CredentialLookup } from './credential-lookup.ts';
import type { Secrets } from './secrets.ts';

/** A caller, or why there is none. `disabled`: the credential is right and its client is not served. */
export type Authentication = Caller | 'missing' | 'wrong' | 'disabled';

type Refusal = 'wrong' | 'disabled';

interface Remembered {
  readonly caller: Caller;
  /** Served without a question until then; after it, served while a question is under way. */
  readonly freshUntilMs: number;
  /** Not served beyond. */
  readonly staleUntilMs: number;
  refreshing: boolean;
}

interface Refused {
  readonly refusal: Refusal;
  readonly untilMs: number;
}

/** A caller seen all the time costs one query in this long. */
const FRESH_MS = 2_000;
/** The longest that a credential works after it was taken away. */
const STALE_MS = 5_000;
/** About 400 bytes each. An installation has as many credentials as apps. */
const REMEMBERED_MAX = 10_000;
/** Refused ones, about 200 bytes each, apart from the others: whoever makes up new ones all the time must not push those out. */
const REFUSED_MAX = 10_000;

export class Authenticator {
  readonly #lookup: CredentialLookup;
  /** Milliseconds of a clock that nobody sets: set back, the other one would serve a withdrawn credential on. */
  readonly #now: () => number;
  readonly #remembered = new CappedMap<string, Remembered>({ sizeMax: REMEMBERED_MAX });
  readonly #refused = new CappedMap<string, Refused>({ sizeMax: REFUSED_MAX });
  /** Headers are remembered by a salted digest: no secret stays in memory, and no comparison tells how far it got. */
  readonly #salt = randomBytes(32).toString('base64');

  constructor(sql: Sql, secrets: Secrets, monotonicMs: () => number = () => performance.now()) {
    this.#lookup = new CredentialLookup(sql, secrets);
    this.#now = monotonicMs;
  }

  /** Answers at once when the credential is known, after one query when not. Rejects when the store cannot be asked. */
  authenticate(header: string): Authentication | Promise<Authentication> {
    const recalled = this.recall(header);
    if (recalled !== null) return recalled;
    const presented = parseAuthorization(header);
    return presented.kind === 'missing' ? 'missing' : this.#ask(this.#keyOf(header), presented);
  }

  /** What memory knows of it. Null: the store has to be asked. */
  recall(header: string): Authentication | null {
    if (header === '') return 'missing';
    const key = this.#keyOf(header);
    const known = this.#remembered.get(key);
    const nowMs = this.#now();
    if (known !== undefined && nowMs < known.freshUntilMs) return known.caller;
    const refused = this.#refused.get(key);
    if (refused !== undefined && nowMs < refused.untilMs) return refused.refusal;
    const presented = parseAuthorization(header);
    if (presented.kind === 'missing') return 'missing';
    if (known === undefined || nowMs >= known.staleUntilMs) return null;
    if (!known.refreshing) {
      known.refreshing = true;
      // A failure is not lost: the entry goes stale in seconds, and the question is asked again by whoever comes then.
      this.#ask(key, presented).catch(() => {
        known.refreshing = false;
      });
    }
    return known.caller;
  }

  #keyOf(header: string): string {
    return hash('sha256', this.#salt + header, 'base64');
  }

  async #ask(key: string, presented: Presentable): Promise<Authentication> {
    const askedAtMs = this.#now();
    const row = await this.#lookup.find(presented);
    this.#remembered.delete(key);
    this.#refused.delete(key);
    if (row === null) return this.#refuse(key, 'wrong', askedAtMs);
    if (row.disabled) return this.#refuse(key, 'disabled', askedAtMs);
    const caller = callerOf(row, presented.kind);
    this.#remember(key, caller, askedAtMs, row.remainingMs ?? Number.POSITIVE_INFINITY);
    return caller;
  }

  #refuse(key: string, refusal: Refusal, askedAtMs: number): Refusal {
    this.#refused.set(key, { refusal, untilMs: askedAtMs + FRESH_MS });
    return refusal;
  }

  #remember(key: string, caller: Caller, askedAtMs: number, remainingMs: number): void {
    this.#remembered.set(key, {
      caller,
      freshUntilMs: askedAtMs + Math.min(FRESH_MS, remainingMs),
      staleUntilMs: askedAtMs + Math.min(STALE_MS, remainingMs),
      refreshing: false,
    });
  }
}

const callerOf = (row: CredentialRow, method: Caller['method']): Caller => ({
  role: row.appId === null ? 'super-user' : 'api-user',
  clientId: row.clientId,
  clientSlug: row.clientSlug,
  appId: row.appId,
  userName: row.username,
  method,
});
