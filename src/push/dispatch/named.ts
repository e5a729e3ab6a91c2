/**
 * Finds to whom the claimed chunks of a correction go (decision 77): who has a message of its
 * chain, and who was to get one and was not sent to. The other jobs of the chain have ended then.
 */

import type { Sql } from '../../database/sql.ts';
import type { ClaimedChunk } from '../sql/ledger/claim-chunks.ts';
import { addWords } from '../sql/ledger/reach-words.ts';
import { reachedNow } from '../sql/ledger/read-reach.ts';
import { chainOf } from '../sql/ledger/retry-chain.ts';
import type { Claimed } from './claimed.ts';

export class Named {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Null: its audience says so. A part of a job that is no correction waits for nothing. */
  of(claimed: Claimed): null | Promise<Uint8Array> {
    return claimed.kind === 'chunk' ? this.ofChunk(claimed.chunk) : null;
  }

  ofChunk(chunk: ClaimedChunk): null | Promise<Uint8Array> {
    const { retries, correction } = chunk;
    return retries === null || correction === null ? null : this.#find(chunk, retries);
  }

  async #find(chunk: ClaimedChunk, first: string): Promise<Uint8Array> {
    const { notificationId, restWords } = chunk;
    const ids = (await chainOf(this.#sql, first)).filter((id) => id !== notificationId);
    const named = await reachedNow(this.#sql, ids, chunk);
    if (restWords !== null) addWords(named, restWords);
    return named;
  }
}
