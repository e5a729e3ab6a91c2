/** Finds the caller of an Authorization header: a known credential is answered from memory. */

import type { Sql } from '../database/sql.ts';
import type { Caller, KeyScope } from '../domain/caller.ts';
import { parseAuthorization } from './authorization-header.ts';
import type { Presentable } from './credential-lookup.ts';
import { CredentialLookup } from './credential-lookup.ts';
import type { Judgement } from './remembered.ts';
import { Remembered } from './remembered.ts';
import type { Secrets } from './secrets.ts';
import { readAccessRevision } from './sql/access-revision.ts';
import type { CredentialRow } from './sql/find-credentials.ts';
import { noteKeyUse } from './sql/note-key-use.ts';

/** A caller, or why there is none. `disabled`: right, but its client is not served. */
export type Authentication = Caller | 'missing' | 'wrong' | 'disabled';

type Refusal = 'wrong' | 'disabled';

interface Known {
  readonly answer: Caller | Refusal;
  /** When the use of a key was last noted. */
  notedMs: number;
}

type Shelf = 'callers' | 'limitedKeys';

/**
 * About 400 bytes each, and their lists. An installation has as many credentials as apps.
 * @limit credentials remembered; those of keys with lists of tags, groups or apps apart → the
 * oldest is forgotten: the database is asked
 */
const REMEMBERED_MAX = 10_000;
/**
 * About 18 bytes each, so 9 MB; a key may have 3,000. Such keys make room for each other only.
 * @limit tags, groups and apps in the lists of remembered keys → the oldest is forgotten
 */
const REMEMBERED_IDS_MAX = 500_000;
/**
 * "Last used" is for people who look for unused keys.
 * @limit between notes that a key is used, on a node
 */
const NOTED_EVERY_MS = 60_000;
const UNNOTED = Number.NEGATIVE_INFINITY;

export class Authenticator {
  readonly #sql: Sql;
  readonly #lookup: CredentialLookup;
  readonly #now: () => number;
  readonly #remembered: Remembered<Known, Shelf>;

  constructor(sql: Sql, secrets: Secrets, monotonicMs: () => number = () => performance.now()) {
    this.#sql = sql;
    this.#lookup = new CredentialLookup(sql, secrets);
    this.#now = monotonicMs;
    this.#remembered = new Remembered({
      shelves: {
        callers: { sizeMax: REMEMBERED_MAX },
        limitedKeys: { sizeMax: REMEMBERED_MAX, weightMax: REMEMBERED_IDS_MAX },
      },
      monotonicMs,
      readRevision: () => readAccessRevision(sql),
    });
  }

  /** At once if in memory, else after one query. Rejects when the store cannot be asked. */
  authenticate(header: string): Authentication | Promise<Authentication> {
    const known = this.#recall(header);
    if (known !== null) return known;
    const presented = parseAuthorization(header);
    return presented.kind === 'missing' ? 'missing' : this.#ask(header, presented);
  }

  /** The answer from memory. Null: the store has to be asked. */
  recall(header: string): Authentication | null {
    const known = this.#recall(header);
    if (known !== null) return known;
    return parseAuthorization(header).kind === 'missing' ? 'missing' : null;
  }

  #recall(header: string): Caller | Refusal | null {
    const known = this.#remembered.recall(header);
    return known === null ? null : this.#use(known);
  }

  /** A use that is not noted now is noted the next time. */
  #use(known: Known): Caller | Refusal {
    const { answer, notedMs } = known;
    const keyId = typeof answer === 'string' ? null : (answer.key?.id ?? null);
    const nowMs = this.#now();
    if (keyId === null || nowMs < notedMs + NOTED_EVERY_MS) return answer;
    known.notedMs = nowMs;
    noteKeyUse(this.#sql, keyId).catch(() => {
      known.notedMs = notedMs;
    });
    return answer;
  }

  async #ask(header: string, presented: Presentable): Promise<Authentication> {
    const known = await this.#remembered.ask(
      header,
      () => this.#lookup.find(presented),
      (row) => judge(row, presented.kind),
    );
    return this.#use(known);
  }
}

function judge(row: CredentialRow | null, method: Caller['method']): Judgement<Known, Shelf> {
  if (row === null || row.disabled) {
    const answer = row === null ? 'wrong' : 'disabled';
    return { known: { answer, notedMs: UNNOTED }, shelf: 'refused' };
  }
  const answer = callerOf(row, method);
  const weight = idsOf(answer);
  return {
    known: { answer, notedMs: UNNOTED },
    shelf: weight === 0 ? 'callers' : 'limitedKeys',
    keptMs: row.remainingMs ?? Number.POSITIVE_INFINITY,
    weight,
  };
}

const idsOf = ({ key }: Caller): number =>
  [key?.tagIds, key?.groupIds, key?.appIds].reduce((sum, ids) => sum + (ids?.length ?? 0), 0);

function roleOf({ key, appId }: CredentialRow): Caller['role'] {
  if (key !== null) return 'key';
  return appId === null ? 'super-user' : 'api-user';
}

const callerOf = (row: CredentialRow, method: Caller['method']): Caller => ({
  role: roleOf(row),
  clientId: row.clientId,
  clientSlug: row.clientSlug,
  appId: row.appId,
  userName: row.username,
  method,
  // The end of a key is set when it is made; a credential gets one when it is rotated.
  ...(row.key === null && row.remainingMs !== null ? { isInGrace: true } : {}),
  // Scopes are checked when a key is made.
  ...(row.key === null
    ? {}
    : { key: { ...row.key, scopes: row.key.scopes as readonly KeyScope[] } }),
  ...(row.limits === null ? {} : { limits: row.limits }),
  ...(row.hasPolicies ? { hasPolicies: true } : {}),
});
