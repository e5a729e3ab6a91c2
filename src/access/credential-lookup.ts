/**
 * Looks credentials up in the database. Look-ups that arrive during a query go into the next one.
 * So a flood of wrong credentials costs one query at a time, and a right one among them is answered
 * by the next query, never refused.
 */

import { timingSafeEqual } from 'node:crypto';
import type { Sql } from '../database/sql.ts';
import type { Presented } from './authorization-header.ts';
import type { Secrets } from './secrets.ts';
import type { CredentialRow, FoundCredentials } from './sql/find-credentials.ts';
import { findCredentials } from './sql/find-credentials.ts';

/** A header with a credential, which can be looked up. */
export type Presentable = Exclude<Presented, { readonly kind: 'missing' }>;

/** The result of looking a credential up. */
interface Finding {
  /** Null: there is no such credential. */
  readonly row: CredentialRow | null;
  /** The revision under which this holds. */
  readonly revision: string;
}

interface Question {
  readonly presented: Presentable;
  /** One for each key of the secrets. */
  readonly hashes: readonly Buffer[];
  resolve(finding: Finding): void;
  reject(error: unknown): void;
}

/**
 * Arrays of this many are still one short statement; further look-ups wait for the next one.
 * @limit credentials looked up in one query → the next query
 */
const BATCH_MAX = 1_000;

export class CredentialLookup {
  readonly #sql: Sql;
  readonly #secrets: Secrets;
  readonly #waiting: Question[] = [];
  #busy = false;

  constructor(sql: Sql, secrets: Secrets) {
    this.#sql = sql;
    this.#secrets = secrets;
  }

  /** Looks up the credential that was presented. */
  find(presented: Presentable): Promise<Finding> {
    const secret = presented.kind === 'bearer' ? presented.token : presented.password;
    const hashes = this.#secrets.lookupHashes(secret);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ presented, hashes, resolve, reject });
      if (!this.#busy) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#busy = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH_MAX);
      try {
        answer(batch, await findCredentials(this.#sql, tokenHashesOf(batch), usernamesOf(batch)));
      } catch (error) {
        for (const question of batch) question.reject(error);
      }
    }
    this.#busy = false;
  }
}

const tokenHashesOf = (batch: readonly Question[]): readonly Buffer[] =>
  batch.flatMap(({ presented, hashes }) => (presented.kind === 'bearer' ? hashes : []));

/**
 * PostgreSQL's text can hold neither NUL nor a lone surrogate, so no credential has such a name.
 */
const usernamesOf = (batch: readonly Question[]): readonly string[] =>
  batch.flatMap(({ presented }) =>
    presented.kind === 'basic' &&
    !presented.username.includes('\0') &&
    presented.username.isWellFormed()
      ? [presented.username]
      : [],
  );

function answer(batch: readonly Question[], { rows, revision }: FoundCredentials): void {
  const byToken = new Map(rows.map((row) => [row.tokenHash.toString('latin1'), row]));
  const byUsername = new Map(rows.map((row) => [row.username, row]));
  for (const { presented, hashes, resolve } of batch) {
    const row =
      presented.kind === 'bearer'
        ? hashes.map((hash) => byToken.get(hash.toString('latin1'))).find(isThere)
        : byUsername.get(presented.username);
    const expected = presented.kind === 'bearer' ? row?.tokenHash : row?.passwordHash;
    const isRight = expected && hashes.some((hash) => timingSafeEqual(expected, hash));
    resolve({ row: isRight && row !== undefined ? row : null, revision });
  }
}

const isThere = (row: CredentialRow | undefined): boolean => row !== undefined;
