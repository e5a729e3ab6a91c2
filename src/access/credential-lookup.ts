/**
 * Looks credentials up. Look-ups during a query go into the next one: a flood of wrong credentials
 * costs one query at a time, and a right one among them is never refused.
 */

import { timingSafeEqual } from 'node:crypto';
import type { Sql } from '../database/sql.ts';
import { Batcher } from '../std/batcher.ts';
import type { Presented } from './authorization-header.ts';
import type { Finding } from './remembered.ts';
import type { Secrets } from './secrets.ts';
import type { CredentialRow, FoundCredentials } from './sql/find-credentials.ts';
import { findCredentials } from './sql/find-credentials.ts';

export type Presentable = Exclude<Presented, { readonly kind: 'missing' }>;

interface Question {
  readonly presented: Presentable;
  /** One for each key of the secrets. */
  readonly hashes: readonly Buffer[];
}

/**
 * Arrays of this many are still one short statement; further look-ups wait for the next one.
 * @limit credentials looked up in one query → the next query
 */
const BATCH_MAX = 1_000;

export class CredentialLookup {
  readonly #secrets: Secrets;
  readonly #batches: Batcher<Question, Finding<CredentialRow>>;

  constructor(sql: Sql, secrets: Secrets) {
    this.#secrets = secrets;
    this.#batches = new Batcher({
      itemsMax: BATCH_MAX,
      run: async (asked) =>
        answer(asked, await findCredentials(sql, tokenHashesOf(asked), usernamesOf(asked))),
    });
  }

  find(presented: Presentable): Promise<Finding<CredentialRow>> {
    const secret = presented.kind === 'bearer' ? presented.token : presented.password;
    return this.#batches.submit({ presented, hashes: this.#secrets.lookupHashes(secret) });
  }
}

const tokenHashesOf = (batch: readonly Question[]): readonly Buffer[] =>
  batch.flatMap(({ presented, hashes }) => (presented.kind === 'bearer' ? hashes : []));

/** PostgreSQL's text holds neither NUL nor lone surrogates: no credential has such a name. */
const usernamesOf = (batch: readonly Question[]): readonly string[] =>
  batch.flatMap(({ presented }) =>
    presented.kind === 'basic' &&
    !presented.username.includes('\0') &&
    presented.username.isWellFormed()
      ? [presented.username]
      : [],
  );

function answer(
  batch: readonly Question[],
  { rows, revision }: FoundCredentials,
): readonly Finding<CredentialRow>[] {
  const byToken = new Map(rows.map((row) => [row.tokenHash.toString('latin1'), row]));
  const byUsername = new Map(rows.map((row) => [row.username, row]));
  return batch.map(({ presented, hashes }) => {
    const row =
      presented.kind === 'bearer'
        ? hashes.map((hash) => byToken.get(hash.toString('latin1'))).find(isThere)
        : byUsername.get(presented.username);
    const expected = presented.kind === 'bearer' ? row?.tokenHash : row?.passwordHash;
    const isRight = expected && hashes.some((hash) => timingSafeEqual(expected, hash));
    return { row: isRight && row !== undefined ? row : null, revision };
  });
}

const isThere = (row: CredentialRow | undefined): boolean => row !== undefined;
