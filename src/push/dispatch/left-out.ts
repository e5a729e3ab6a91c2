/**
 * Finds whom claimed chunks leave out. Of a retry: who has the message of an earlier job of its
 * chain (decision 75). These have ended, so the answer is the same at each claim. Of a wave: whom
 * its job has reached, or tries again (decision 79). The waves before it are done.
 */

import type { Sql } from '../../database/sql.ts';
import { GROUP_DEVICES, scopeKeyOf } from '../../domain/device.ts';
import type { Clock } from '../../std/clock.ts';
import type { ClaimedChunk } from '../sql/ledger/claim-chunks.ts';
import { addDevice, noDevices } from '../sql/ledger/reach-words.ts';
import { reachedIn, readReachStandings } from '../sql/ledger/read-reach.ts';
import { chainOf } from '../sql/ledger/retry-chain.ts';
import { retriedIn } from '../sql/waves/read-wave.ts';
import type { Claimed } from './claimed.ts';
import { KeptBriefly } from './kept-briefly.ts';

interface Earlier {
  readonly ids: readonly string[];
  /** The (app, platform)s, as keys, where all that they have reached is known. */
  readonly known: ReadonlySet<string>;
}

export class LeftOut {
  readonly #sql: Sql;
  readonly #clock: Pick<Clock, 'monotonicMs' | 'nowMs'>;
  readonly #kept: KeptBriefly<Earlier>;

  constructor(sql: Sql, clock: Pick<Clock, 'monotonicMs' | 'nowMs'>) {
    this.#sql = sql;
    this.#clock = clock;
    this.#kept = new KeptBriefly(clock);
  }

  /** Null: no device. A part of a job that is no retry waits for nothing. */
  of(claimed: Claimed): null | Promise<Uint8Array | null> {
    return claimed.kind === 'chunk' ? this.ofChunk(claimed.chunk) : null;
  }

  ofChunk(chunk: ClaimedChunk): null | Promise<Uint8Array | null> {
    const { retries, correction, waveAtMs } = chunk;
    if (waveAtMs !== null) return this.#hadBefore(chunk);
    return retries === null || correction !== null ? null : this.#find(chunk, retries);
  }

  /** The retries first: a device that is reached between the two reads is found then. */
  async #hadBefore(chunk: ClaimedChunk): Promise<Uint8Array | null> {
    const { notificationId } = chunk;
    const retried = await retriedIn(this.#sql, notificationId, chunk);
    const reached = await reachedIn(this.#sql, [notificationId], chunk);
    if (retried.length === 0) return reached;
    const had = reached ?? noDevices();
    for (const ordinal of retried) addDevice(had, ordinal % GROUP_DEVICES);
    return had;
  }

  async #find(chunk: ClaimedChunk, retries: string): Promise<Uint8Array | null> {
    const { notificationId, state, expiresAtMs } = chunk;
    const { ids, known } = await this.#kept.get(notificationId, () =>
      this.#earlier(notificationId, retries),
    );
    if (known.has(scopeKeyOf(chunk))) return await reachedIn(this.#sql, ids, chunk);
    const isSent =
      state !== 'CANCELLED' && (expiresAtMs ?? Number.POSITIVE_INFINITY) > this.#clock.nowMs();
    if (!isSent) return null;
    // A retry ends before that (RETRY_MARGIN_MS): somebody has removed it by hand.
    throw new Error(`the reach of ${retries}, which this retry leaves out, is gone`);
  }

  async #earlier(notificationId: string, retries: string): Promise<Earlier> {
    const chain = await chainOf(this.#sql, retries);
    const ids = chain.filter((id) => id !== notificationId);
    const standings = await readReachStandings(this.#sql, ids);
    const gone = new Set(standings.filter((one) => one.isGone).map(scopeKeyOf));
    const ofFirst = standings.filter((one) => one.notificationId === retries).map(scopeKeyOf);
    return { ids, known: new Set(ofFirst.filter((key) => !gone.has(key))) };
  }
}
