/**
 * Replaces tokens, a few at a time: each in its own transaction, which changes two devices' rows.
 */

import type { Logger } from 'pino';
import type { SqlPool } from '../../database/sql.ts';
import { Batcher } from '../../std/batcher.ts';
import type { IndexFeed } from '../../tag-index/tag-index.ts';
import { FailureLog } from '../../telemetry/failure-log.ts';
import { Lanes } from '../lanes.ts';
import type { Replaced, Replacement } from './replace-commit.ts';
import { commitReplacement } from './replace-commit.ts';

interface ReplacementsOptions {
  readonly sql: SqlPool;
  readonly feed: IndexFeed;
  readonly log: Logger;
  /** REPLACEMENT_LANES, or 1 on the embedded database, which is one session. */
  readonly lanes: number;
  readonly tagsPerDeviceMax: number;
}

export type ReplaceResult =
  | Replaced
  /** `overloaded`: nothing was done. `unavailable`: not known to be durable. */
  | { readonly outcome: 'overloaded' | 'unavailable' };

/** @limit replacements of tokens at a time → they wait */
export const REPLACEMENT_LANES = 2;
/** @limit replacements of tokens at a time on the embedded database → they wait */
export const REPLACEMENT_LANES_EMBEDDED = 1;
/**
 * Tokens change seldom: so many replacements take seconds.
 * @limit replacements that wait → `503`
 */
const WAITING_MAX = 1_000;

export class Replacements {
  private readonly lanes: Lanes<Replacement, ReplaceResult>;
  private readonly failureLog: FailureLog;
  private inFlight = 0;
  private draining = false;

  constructor(options: ReplacementsOptions) {
    const { lanes, log } = options;
    this.failureLog = new FailureLog(log);
    const run = async ([replacement]: readonly Replacement[]): Promise<readonly ReplaceResult[]> =>
      replacement === undefined ? [] : [await commit(options, replacement, this.failureLog)];
    this.lanes = new Lanes(lanes, () => new Batcher({ itemsMax: 1, run }));
  }

  /**
   * Resolves when the replacement is committed, or with why it is not. Replacements of one device
   * keep their order. Registrations that are not answered yet may come before or after it: either
   * order gives the new device the tags of both.
   */
  async submit(replacement: Replacement): Promise<ReplaceResult> {
    if (this.draining) return { outcome: 'unavailable' };
    if (this.inFlight >= WAITING_MAX) return { outcome: 'overloaded' };
    this.inFlight += 1;
    try {
      return await this.lanes.submit(replacement);
    } finally {
      this.inFlight -= 1;
    }
  }

  async drain(): Promise<void> {
    this.draining = true;
    await this.lanes.drain();
    this.failureLog.stop();
  }
}

async function commit(
  { sql, feed, tagsPerDeviceMax }: ReplacementsOptions,
  replacement: Replacement,
  failureLog: FailureLog,
): Promise<ReplaceResult> {
  try {
    const replaced = await commitReplacement(sql, replacement, tagsPerDeviceMax);
    await feed.apply(replaced.changes);
    return replaced;
  } catch (error) {
    const sentence = 'a replacement was not committed';
    failureLog.tell({ level: 'error', sentence, error, context: {} });
    return { outcome: 'unavailable' };
  }
}
