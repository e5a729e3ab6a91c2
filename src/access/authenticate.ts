/**
 * Finds the caller of an Authorization header. A known credential is answered from memory, accepted
 * or refused, without a query and without a password hash. An entry holds under one revision of the
 * database (revision.ts).
 */

import { hash, randomBytes } from 'node:crypto';
import type { Sql } from '../database/sql.ts';
import type { Caller, KeyScope } from '../domain/caller.ts';
import { CappedMap } from '../std/capped-map.ts';
import { parseAuthorization } from './authorization-header.ts';
import type { Presentable } from './credential-lookup.ts';
import { CredentialLookup } from './credential-lookup.ts';
import { KnownRevision } from './revision.ts';
import type { Secrets } from './secrets.ts';
import { readAccessRevision } from './sql/access-revision.ts';
import type { CredentialRow } from './sql/find-credentials.ts';
import { noteKeyUse } from './sql/note-key-use.ts';

/**
 * A caller, or why there is none. `disabled`: the credential is right, but its client is not
 * served.
 */
export type Authentication = Caller | 'missing' | 'wrong' | 'disabled';

type Refusal = 'wrong' | 'disabled';

interface Remembered {
  readonly known: Caller | Refusal;
  /** The revision under which this holds. */
  readonly revision: string;
  /** The entry is not used after this time. */
  readonly untilMs: number;
  /** When the use of a key was last noted. */
  notedMs: number;
}

/**
 * About 400 bytes each, and their lists. An installation has as many credentials as apps.
 * @limit credentials remembered; those of keys with lists of tags, groups or apps apart → the
 * oldest is forgotten: the database is asked
 */
const REMEMBERED_MAX = 10_000;
/**
 * Tags, groups and apps in the lists of all limited keys: about 18 bytes each, so 9 MB. One key may
 * have 3,000. Such keys are kept apart: they make room for each other, and for nobody else.
 * @limit tags, groups and apps in the lists of remembered keys → the oldest is forgotten
 */
const REMEMBERED_IDS_MAX = 500_000;
/**
 * Refused ones, about 200 bytes each. They are kept apart, so that a caller that invents
 * credentials does not displace the others.
 * @limit refused credentials remembered → the oldest is forgotten
 */
const REFUSED_MAX = 10_000;
/**
 * A new credential does not raise the revision, so a refused one may be valid after this time.
 * @limit refused credentials are remembered for → the database is asked
 */
const REFUSED_MS = 2_000;
/**
 * "Last used" is for people who look for unused keys.
 * @limit between notes that a key is used, on a node
 */
const NOTED_EVERY_MS = 60_000;
const UNNOTED = Number.NEGATIVE_INFINITY;

export class Authenticator {
  readonly #sql: Sql;
  readonly #lookup: CredentialLookup;
  /**
   * Milliseconds of the monotonic clock. If the system clock were used and set back, a revoked
   * credential would work on.
   */
  readonly #now: () => number;
  readonly #callers = new CappedMap<string, Remembered>({ sizeMax: REMEMBERED_MAX });
  readonly #limitedKeys = new CappedMap<string, Remembered>({
    sizeMax: REMEMBERED_MAX,
    weightMax: REMEMBERED_IDS_MAX,
  });
  readonly #refused = new CappedMap<string, Remembered>({ sizeMax: REFUSED_MAX });
  /**
   * Headers are remembered by a salted digest: no secret stays in memory, and the time of a
   * comparison does not show how much of a header was right.
   */
  readonly #salt = randomBytes(32).toString('base64');
  readonly #revision: KnownRevision;

  constructor(sql: Sql, secrets: Secrets, monotonicMs: () => number = () => performance.now()) {
    this.#sql = sql;
    this.#lookup = new CredentialLookup(sql, secrets);
    this.#now = monotonicMs;
    this.#revision = new KnownRevision(() => readAccessRevision(sql), monotonicMs);
  }

  /**
   * Answers at once if the credential is in memory, after one query if not. Rejects when the store
   * cannot be asked.
   */
  authenticate(header: string): Authentication | Promise<Authentication> {
    const key = this.#keyOf(header);
    const known = this.#recall(key);
    if (known !== null) return known;
    const presented = parseAuthorization(header);
    return presented.kind === 'missing' ? 'missing' : this.#ask(key, presented);
  }

  /** The answer from memory. Null: the store has to be asked. */
  recall(header: string): Authentication | null {
    const known = this.#recall(this.#keyOf(header));
    if (known !== null) return known;
    return parseAuthorization(header).kind === 'missing' ? 'missing' : null;
  }

  #keyOf(header: string): string {
    return hash('sha256', this.#salt + header, 'base64');
  }

  #recall(key: string): Caller | Refusal | null {
    const remembered =
      this.#callers.get(key) ?? this.#limitedKeys.get(key) ?? this.#refused.get(key);
    if (remembered === undefined) return null;
    const nowMs = this.#now();
    if (nowMs >= remembered.untilMs || !this.#revision.holds(remembered.revision)) return null;
    this.#noteUse(remembered, nowMs);
    return remembered.known;
  }

  /** A use that is not noted now is noted the next time. */
  #noteUse(remembered: Remembered, nowMs: number): void {
    const { known, notedMs } = remembered;
    const keyId = typeof known === 'string' ? null : (known.key?.id ?? null);
    if (keyId === null || nowMs < notedMs + NOTED_EVERY_MS) return;
    remembered.notedMs = nowMs;
    noteKeyUse(this.#sql, keyId).catch(() => {
      remembered.notedMs = notedMs;
    });
  }

  async #ask(key: string, presented: Presentable): Promise<Authentication> {
    const askedAtMs = this.#now();
    const { row, revision } = await this.#lookup.find(presented);
    this.#revision.stand(revision, askedAtMs);
    for (const known of [this.#callers, this.#limitedKeys, this.#refused]) known.delete(key);
    if (row === null || row.disabled) {
      const known = row === null ? 'wrong' : 'disabled';
      this.#refused.set(key, { known, revision, untilMs: askedAtMs + REFUSED_MS, notedMs: 0 });
      return known;
    }
    const known = callerOf(row, presented.kind);
    const remainingMs = row.remainingMs ?? Number.POSITIVE_INFINITY;
    const remembered = { known, revision, untilMs: askedAtMs + remainingMs, notedMs: UNNOTED };
    const ids = idsOf(known);
    if (ids === 0) this.#callers.set(key, remembered);
    else this.#limitedKeys.set(key, remembered, ids);
    this.#noteUse(remembered, askedAtMs);
    return known;
  }
}

/** Those that the lists of a key have together. */
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
});
