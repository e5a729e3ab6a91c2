/**
 * Carries out bulk operations, a piece after the other, on any node and on several at once. Sends
 * and registrations go first: after each piece it rests for longer than the piece took, so that on
 * a database that is slow because it is busy it works less.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { BulkContext } from '../registration/bulk/bulk-commit.ts';
import { commitBulkPiece } from '../registration/bulk/bulk-commit.ts';
import { Recurring } from '../std/recurring.ts';
import { Seldom } from '../std/seldom.ts';
import type { IndexFeed } from '../tag-index/tag-index.ts';

/** Time between two looks when nothing is due: each is a look at an index that is empty then. */
const INTERVAL_MS = 2_000;
/** The rest after a piece, in times of the piece: it works a fifth of the time. */
const REST_FACTOR = 4;
/** And at least this: with 100 devices of a piece, at most 2,000 a second. */
const REST_MS_MIN = 50;
/** Of failures while the database is away. */
const TOLD_EVERY_MS = 10_000;

export interface BulkOperationsOptions extends BulkContext {
  readonly feed: IndexFeed;
  readonly log: Logger;
}

export class BulkOperations {
  readonly #options: BulkOperationsOptions;
  readonly #end = new AbortController();
  readonly #failures = new Seldom(TOLD_EVERY_MS);
  readonly #runs = new Recurring(INTERVAL_MS, () => this.#runLogged());

  constructor(options: BulkOperationsOptions) {
    this.#options = options;
  }

  /** Works from now on, until stopped. */
  start(): void {
    this.#runs.start();
  }

  /** Resolves when the piece under way is committed. */
  async stop(): Promise<void> {
    this.#end.abort();
    await this.#runs.stop();
  }

  /** One piece of the operation whose turn it is. Answers whether there was one. */
  async runPiece(): Promise<boolean> {
    const changes = await commitBulkPiece(this.#options);
    if (changes === null) return false;
    await this.#options.feed.apply(changes);
    return true;
  }

  async #runLogged(): Promise<void> {
    try {
      await this.#runAll();
    } catch (error) {
      const times = this.#failures.count();
      if (times === null) return;
      const sentence = 'a bulk operation failed; it will be tried again';
      this.#options.log.error({ err: error, times }, sentence);
    }
  }

  async #runAll(): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      const startedAtMs = performance.now();
      if (!(await this.runPiece())) return;
      const restMs = Math.max(REST_MS_MIN, REST_FACTOR * (performance.now() - startedAtMs));
      await sleep(restMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}
